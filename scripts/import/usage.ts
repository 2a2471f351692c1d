/** The usage of `npm run import`. */
export const USAGE = `TONEARM_KEY=… npm run import -- rss URL|FILE [OPTIONS]             a podcast feed        docs/import.md
TONEARM_KEY=… npm run import -- s3 BUCKET[/PREFIX] [OPTIONS]      the audio in a bucket
TONEARM_KEY=… npm run import -- list FILE [OPTIONS]               URLs in a file: CSV or JSON Lines
  --url https://audio.example.com   the service; without it, a running npm start
  --collection ID                   puts all tracks into this collection
  --dry-run                         prints what would be imported, and changes nothing
  --feed                            rss: publishes the podcast again, as a feed of a share
  --ignore-lock                     rss: imports a feed whose owner has locked it
  --endpoint URL, --region NAME     s3: the storage, with the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
ROOT_KEY=… npm run import -- export DIRECTORY|s3://BUCKET/FOLDER [OPTIONS]      an export of an organization
  --url https://audio.example.com   the service; without it, a running npm start
  --discard                         deletes what an unfinished import of this export has inserted`
