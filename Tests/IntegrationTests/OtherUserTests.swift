import CommandLineTestSupport
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
}
