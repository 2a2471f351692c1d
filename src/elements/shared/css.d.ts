/** A style sheet as text; scripts/build.ts minifies it. */
declare module '*.css' {
  const css: string
  export default css
}
