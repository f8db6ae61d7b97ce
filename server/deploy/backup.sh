#!/bin/sh
# Makes a backup of DATA_DIR in BACKUP_DIR, also beside a running node, and keeps the newest BACKUP_KEEP of them.
# A backup that fails removes nothing, and the exit code says so. Names are times in UTC.
#   DATA_DIR      the data directory of the node
#   BACKUP_DIR    where backups are; on another disk, and copied to another machine from there
#   BACKUP_KEEP   how many stay (14)
#   BACKUP_FLAGS  flags of the command `backup`, for example --no-key
#   NODE_COMMAND  how the command line is called (prediction-market-node)
set -eu

: "${DATA_DIR:?is not set}" "${BACKUP_DIR:?is not set}"
keep=${BACKUP_KEEP:-14}
case $keep in
'' | *[!0-9]* | 0*)
  echo "BACKUP_KEEP must be a whole number from 1, not \"$keep\"" >&2
  exit 2
  ;;
esac

umask 077
mkdir -p "$BACKUP_DIR"
# The command and its flags are lists of words.
# shellcheck disable=SC2086
${NODE_COMMAND:-prediction-market-node} backup "$BACKUP_DIR/$(date -u +%Y%m%dT%H%M%SZ)" \
  --data-dir "$DATA_DIR" ${BACKUP_FLAGS:-}

# A directory has its name once it is complete. Names of other forms are not touched.
count=0
for path in $(ls -1r "$BACKUP_DIR"); do
  case $path in
  [0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]T[0-9][0-9][0-9][0-9][0-9][0-9]Z)
    count=$((count + 1))
    [ "$count" -le "$keep" ] || rm -rf "${BACKUP_DIR:?}/$path"
    ;;
  esac
done
