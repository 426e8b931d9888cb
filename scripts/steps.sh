# Steps of ./demo and ./test: each is announced, timed, and logged to $log_folder; the first that fails ends the
# run and says where to look. Sourced by bash scripts that set `root` (the repository), `script` (their name) and `log_folder`.
# shellcheck shell=bash
: "${root:?}" "${script:?}" "${log_folder:?}"

begun=${EPOCHREALTIME/[.,]/}
step_count=0
steps_passed=0

# Seconds since $1 (microseconds of EPOCHREALTIME), one decimal.
seconds_since() {
    local tenths=$(((${EPOCHREALTIME/[.,]/} - $1) / 100000))
    echo "$((tenths / 10)).$((tenths % 10))"
}

# step_quiet TITLE COMMAND...   output goes to the log; its end is shown when the command fails
# step_shown TITLE COMMAND...   output is shown as well
step_quiet() { run_step quiet "$@"; }
step_shown() { run_step shown "$@"; }

run_step() {
    local how=$1 title=$2 start=${EPOCHREALTIME/[.,]/} log status
    shift 2
    step_count=$((step_count + 1))
    log=$(printf '%s/%02d-%s.log' "$log_folder" "$step_count" "$(echo "$title" | tr -cs 'A-Za-z0-9\n' -)")
    mkdir -p "$log_folder"
    if [ "$how" = shown ]; then
        printf '==> %s\n' "$title"
        "$@" 2>&1 </dev/null | tee "$log"
        status=${PIPESTATUS[0]}
        printf '    %s: ' "$title"
    else
        printf '==> %s ... ' "$title"
        "$@" >"$log" 2>&1 </dev/null
        status=$?
    fi
    if [ "$status" -ne 0 ]; then
        printf 'FAILED after %s s (exit %s)\n' "$(seconds_since "$start")" "$status"
        if [ "$how" = quiet ]; then
            echo "    --- last lines of the log"
            tail -n 40 "$log" | sed 's/^/    /'
        fi
        printf '\n%s: step %d "%s" failed.\n' "$script" "$step_count" "$title"
        printf 'command: %s\nlog:     %s\n' "$*" "$log"
        explain_failure "$log"
        printf 'steps: %d passed, 1 failed\n' "$steps_passed"
        exit 1
    fi
    steps_passed=$((steps_passed + 1))
    printf '%s s\n' "$(seconds_since "$start")"
}

# The remedies worth knowing.
explain_failure() {
    if grep -qE 'Could NOT find|No package .* found|not found|command not found|is not able to compile' "$1"; then
        local missing
        missing=$("$root/scripts/install-packages" --list 2>/dev/null | tr '\n' ' ')
        [ -z "$missing" ] || echo "remedy:  these packages are missing: $missing"
    elif grep -q 'CMakeCache.txt' "$1" && grep -q 'different' "$1"; then
        echo "remedy:  the build folder was made in another place; remove it: rm -r \"$root/build\""
    fi
}

finish_steps() {
    printf '\nsteps: %d passed, 0 failed\n' "$steps_passed"
    printf '%s: done in %s s\n' "$script" "$(seconds_since "$begun")"
}
