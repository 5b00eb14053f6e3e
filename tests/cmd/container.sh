#!/bin/bash
# container.sh - contrib/container/start, the first process of the container, with a made-up demo: TERM while the demo runs ends it and
# the cluster, the demo has its user's input and Ctrl-C, and the container says that its cluster runs only if it does.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
top=${srcdir:-$(dirname "$0")/..}/..
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
failed=0

mkdir -p "$temp/contrib/container" "$temp/contrib/demo" "$temp/bin"
cp "$top/contrib/container/start" "$temp/contrib/container/start"
cat > "$temp/contrib/demo/run" <<'END'
#!/bin/bash
trap 'echo "demo: ended" >> "$TEMP/log"; exit 143' TERM
trap 'echo "demo: Ctrl-C" >> "$TEMP/log"' INT
read -r line
kill -INT $$
echo "demo: $line" >> "$TEMP/log"
while [ "$line" = stay ] && [ -e "$TEMP/log" ]; do
	sleep 0.1
done
exit 3
END
cat > "$temp/bin/sandbox" <<'END'
#!/bin/sh
[ "$1" != exec ] || [ ! -e "$TEMP/no-cluster" ] || exit 1
echo "sandbox: $*" >> "$TEMP/log"
END
chmod +x "$temp/contrib/demo/run" "$temp/bin/sandbox"
export PATH=$temp/bin:$PATH TEMP=$temp

# ends WHAT LINE LOG CODE FILE WORDS: start, whose input is LINE, is sent TERM when FILE has WORDS.
ends()
{
	local start rc i

	: > "$temp/log"
	env --default-signal=INT,TERM "$temp/contrib/container/start" <<< "$2" > "$temp/out" 2>&1 &
	start=$!
	for ((i = 0; i < 300; i++)); do
		! grep -qs "$6" "$temp/$5" || break
		sleep 0.1
	done
	kill -TERM $start
	wait $start
	rc=$?
	if [ "$(cat "$temp/log")" != "$3" ] || [ $rc != "$4" ]; then
		printf 'FAIL: %s: exit code %s, expected %s\n--- log\n%s\n--- expected\n%s\n--- output\n%s\n' "$1" $rc "$4" "$(cat "$temp/log")" "$3" \
			"$(cat "$temp/out")"
		failed=1
	fi
}

ends 'TERM while the demo runs' stay $'demo: Ctrl-C\ndemo: stay\ndemo: ended\nsandbox: down' 143 log 'demo: stay'
ends 'TERM when the demo is over' go $'demo: Ctrl-C\ndemo: go\nsandbox: exec scontrol ping\nsandbox: down' 3 out 'runs until this container is stopped'

: > "$temp/log"
touch "$temp/no-cluster"
"$temp/contrib/container/start" <<< go > "$temp/out" 2>&1 &
start=$!
for ((i = 0; i < 300; i++)); do
	kill -0 $start 2> /dev/null || break
	sleep 0.1
done
! kill -TERM $start 2> /dev/null || echo "it did not end by itself" >> "$temp/out"
wait $start
rc=$?
if [ $rc != 3 ] || [ "$(cat "$temp/out")" != $'The demo ended with exit code 3.\nNo cluster runs, so the container ends.' ]; then
	printf 'FAIL: a demo that fails without a cluster: exit code %s\n--- output\n%s\n' $rc "$(cat "$temp/out")"
	failed=1
fi
exit $failed
