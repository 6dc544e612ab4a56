import CommandLineTestSupport
import Glibc
import TestSupport
import Testing

@Suite("User who is not root")
struct OtherUserTests {
    @Test(
        "A user who is not root can end the processes of a killed supervisor, also those with tokens",
        .timeLimit(.minutes(3)))
    func leftovers() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.shell(
                #"""
                set -euo pipefail
                as=()
                if [ "$(id -u)" = 0 ]; then
                    chown 65534:65534 .
                    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
                fi
                # The number of processes that the user can find by the environment that the supervisor gave them.
                marked() {
                    "${as[@]}" bash -c 'grep -lsz "^SEGUE_MARK=$1/" /proc/[0-9]*/environ || true' bash \
                        "$PWD/state/segue/other" | wc -l
                }
                "${as[@]}" segue up -d --wait -p other -f '\#(Repository.path("compose/default.yaml"))' auth-service >&2
                marked
                supervisor=$(tr -d ' \n' < run/segue/other/supervisor.json | grep -o '"supervisor":{[^}]*}' |
                    grep -o '"pid":[0-9]*')
                kill -9 "${supervisor#*:}"
                tail --pid="${supervisor#*:}" -f /dev/null
                # Without the last status, processes are found only by their environment.
                rm -f state/segue/other/supervisor.json run/segue/other/supervisor.json
                "${as[@]}" segue down -p other >&2
                marked
                """#)
            try #require(result.status == 0, "\(result.output)\(result.error)")
            #expect(result.lines == ["3", "0"], "first the broker, the simulator and auth-service\n\(result.error)")
        }
    }

    @Test(
        "A user of the same machine reaches neither the bus nor the keys of another user", .timeLimit(.minutes(2)),
        .enabled(if: getuid() == 0, "only root can be two users"))
    func strangers() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.shell(
                #"""
                set -uo pipefail
                trap 'kill $(jobs -p) 2>/dev/null' EXIT
                chown 65534:65534 .
                owner() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
                other() { setpriv --reuid=65533 --regid=65533 --clear-groups "$@"; }
                bus=ipc://$PWD/bus
                owner segue keys init >&2
                owner segue keys add a >&2
                owner broker --bus "$bus" --journal journal.sqlite >&2 &
                until [ -S bus/feed ]; do sleep 0.05; done
                owner segue services --bus "$bus" >&2; echo "owner $?"
                other segue services --bus "$bus" >&2; echo "client $?"
                other broker --bus "$bus" --journal /tmp/none.sqlite >&2; echo "broker $?"
                SEGUE_BUS_CURVE=keys/a.key other segue services --bus tcp://127.0.0.1:1 >&2; echo "key $?"
                other segue keys list >&2; echo "keys $?"
                """#)
            #expect(result.lines == ["owner 0", "client 78", "broker 78", "key 78", "keys 78"], "\(result.error)")
        }
    }
}
