"""Uploads an audio file, waits until it can be played, and prints a link to a page that plays it.

    TONEARM_URL=http://localhost:8787 TONEARM_KEY=ta_sk_… python upload.py song.wav
"""

import os
import sys

from tonearm import Tonearm, TonearmError


def main(path: str) -> None:
    client = Tonearm(os.environ["TONEARM_URL"], os.environ["TONEARM_KEY"])
    collection = client.create_collection({"title": "Uploads from Python"})
    created = client.create_track(
        {"collection_id": collection["collection_id"], "file_name": os.path.basename(path)}
    )
    client.upload_file(created["track_upload"], path)
    client.complete_track_upload(created["track_id"])
    track = client.wait_for_track(created["track_id"])
    if track["status"] == "failed":
        sys.exit(f"{path} cannot be played: {track['info'].get('error')}")
    share = client.create_share({"scope": "track", "id": track["id"]})
    print(f"{track['duration']:.1f} s: {share['share']['url']}")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except TonearmError as error:
        sys.exit(f"{error.code}: {error.message}")
