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

# Seconds of processor the commands have taken so far, one decimal, into cpu_tenths. Of this shell's children: no subshell.
count_cpu() {
    local line user system
    times >"$log_folder/times"
    { read -r line; read -r user system; } <"$log_folder/times"
    cpu_tenths=0
    for line in "$user" "$system"; do # 1m2.345s
        line=${line%s}
        cpu_tenths=$((cpu_tenths + ${line%m*} * 600 + 10#$(tr -cd 0-9 <<<"${line#*m}") / 100))
    done
}

# step_quiet TITLE COMMAND...   output goes to the log; its end is shown when the command fails
# step_shown TITLE COMMAND...   output is shown as well
step_quiet() { run_step quiet "$@"; }
step_shown() { run_step shown "$@"; }

# step_behind TITLE COMMAND...  begins a program while the next steps run, with what they leave of the processor; one at a time
# step_await                    waits for it, as step_quiet would have
behind_pid=
step_behind() {
    behind_title=$1 behind_start=${EPOCHREALTIME/[.,]/}
    shift
    behind_command=("$@")
    next_log "$behind_title"
    behind_log=$log behind_number=$step_count
    printf '==> %s, behind what follows\n' "$behind_title"
    # In a group of its own, to be ended as a whole.
    setsid nice -n 19 "$@" >"$log" 2>&1 </dev/null &
    behind_pid=$!
    trap end_behind EXIT
}
step_await() {
    local status
    printf '==> %s ... ' "$behind_title"
    count_cpu
    cpu_before=$cpu_tenths
    wait "$behind_pid"
    status=$?
    behind_pid=
    judge_step quiet "$status" "$behind_start" "$behind_number" "$behind_title" "$behind_log" "${behind_command[@]}"
}
# shellcheck disable=SC2317
end_behind() {
    [ -z "$behind_pid" ] || kill -TERM -- "-$behind_pid" 2>/dev/null
}

# A step's log: its number and its title.
next_log() {
    step_count=$((step_count + 1))
    log=$(printf '%s/%02d-%s.log' "$log_folder" "$step_count" "$(echo "$1" | tr -cs 'A-Za-z0-9\n' -)")
    mkdir -p "$log_folder"
}

run_step() {
    local how=$1 title=$2 start=${EPOCHREALTIME/[.,]/} log status
    shift 2
    next_log "$title"
    count_cpu
    cpu_before=$cpu_tenths
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
    judge_step "$how" "$status" "$start" "$step_count" "$title" "$log" "$@"
}

judge_step() { # how status start number title log command...
    local how=$1 status=$2 start=$3 number=$4 title=$5 log=$6
    shift 6
    if [ "$status" -ne 0 ]; then
        printf 'FAILED after %s s (exit %s)\n' "$(seconds_since "$start")" "$status"
        if [ "$how" = quiet ]; then
            echo "    --- last lines of the log"
            tail -n 40 "$log" | sed 's/^/    /'
        fi
        printf '\n%s: step %d "%s" failed.\n' "$script" "$number" "$title"
        printf 'command: %s\nlog:     %s\n' "$*" "$log"
        explain_failure "$log"
        printf 'steps: %d passed, 1 failed\n' "$steps_passed"
        exit 1
    fi
    steps_passed=$((steps_passed + 1))
    count_cpu
    cpu_tenths=$((cpu_tenths - cpu_before))
    printf '%s s (processor %d.%d s)\n' "$(seconds_since "$start")" $((cpu_tenths / 10)) $((cpu_tenths % 10))
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
    count_cpu
    printf '%s: done in %s s (processor %d s)\n' "$script" "$(seconds_since "$begun")" $((cpu_tenths / 10))
}
