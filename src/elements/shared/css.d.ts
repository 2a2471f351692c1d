/** An imported style sheet is a string. scripts/build.ts minifies it. */
declare module '*.css' {
  const css: string
  export default css
}
