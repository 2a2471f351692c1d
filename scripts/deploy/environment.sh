#!/usr/bin/env bash
# Prints the path of the configuration of an environment: `production` is wrangler.toml. For any other name, such as `staging`, writes a copy in
# which all names differ, so that nothing is shared (docs/operate.md#a-second-one).
set -euo pipefail
cd "$(dirname "$0")/../.."
name=$1
if [ "$name" = production ]; then
  echo wrangler.toml
else
  sed -e "s/\"tonearm/\"tonearm-$name/" -e 's/^namespace_id = "1/namespace_id = "2/' wrangler.toml > "wrangler.$name.toml"
  echo "wrangler.$name.toml"
fi
