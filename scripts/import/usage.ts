/** The usage of `npm run import`. */
export const USAGE = `ROOT_KEY=… npm run import -- export DIRECTORY|s3://BUCKET/FOLDER [OPTIONS]      docs/move.md
  --url https://audio.example.com   the service; without it, a running npm start
  --discard                         deletes what an unfinished import of this export has inserted`
