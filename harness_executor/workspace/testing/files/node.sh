#!/bin/sh
# Stands before `node` on the search path while tests run, so that runners also say which tests ran.
here=${0%/*}
reporter=
for word in "$@"; do
  case $word in
    --test) reporter=${reporter:-ours} ;;
    --test-reporter*) reporter=theirs ;;
  esac
done
IFS=:
for folder in $PATH; do
  if [ "$folder" != "$here" ] && [ -x "$folder/node" ]; then
    if [ "$reporter" = ours ]; then
      exec "$folder/node" --require "$here/hook.cjs" \
        --test-reporter=spec --test-reporter-destination=stdout \
        "--test-reporter=$here/reporter.mjs" "--test-reporter-destination=$here/node-$$.jsonl" "$@"
    fi
    exec "$folder/node" --require "$here/hook.cjs" "$@"
  fi
done
echo "node: not found" >&2
exit 127
