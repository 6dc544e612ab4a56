import CommandLineTestSupport
import Foundation
import Testing

@Suite("'segue top' on a terminal")
struct TopVerbTests {
    /// Runs `keys`, a script of Bash, beside `segue top` on a terminal with this number of columns and rows. The script
    /// types with `type TEXT`, and waits with `seen TEXT` until the terminal receives a text after the text that it last
    /// waited for.
    private func screen(
        _ segue: SegueCommandLine, columns: Int, rows: Int, top: String = "segue top --interval 50ms", _ keys: String
    ) async throws -> String {
        try segue.write("stty cols \(columns) rows \(rows); \(top); echo status $?", to: "session")
        let result = try await segue.shell(
            """
            mkfifo keys; exec 3<> keys; touch screen; from=1
            script -qfc "bash session" screen < keys > /dev/null & session=$!
            type() { printf "$1" >&3; }
            seen() {
                local count
                # A line of the screen ends with a sequence, and not always with a newline.
                count=$(grep -a -o -b -m1 -F -- "$1" < <(
                    tail --pid=$session -c +$from -f screen | stdbuf -o0 tr '\\033' '\\n') | head -n1 | cut -d: -f1)
                from=$((from + count + 1))
            }
            \(keys)
            wait $session; cat screen
            """)
        return result.output + result.error
    }

    @Test(
        "'segue top' restarts a process, and shows its log, the newest story and the dead letters",
        .timeLimit(.minutes(2)))
    func keys() async throws {
        try await SegueCommandLine.inScratch { segue in
            let worker = "  worker: { command: [bash, -c, 'echo begun by $$; exec sleep 1000'] }"
            try segue.write(BusEngine.broker.composeFile(services: worker))
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            try await segue("send", "event.ThingHappened", "--no-check")
            let pid = try await segue("ps", "-q", "worker").output
            let output = try await screen(
                segue, columns: 80, rows: 24,
                """
                seen 'worker '; type '\\033[B'; seen '> worker'
                type s; seen 'NEWEST STORY'; seen ThingHappened; type '\\033'; seen '> worker'
                type d; seen 'there are no dead letters'; type '\\033'; seen '> worker'
                type r; seen 'y restarts'; type y; seen 'worker runs'
                type l; seen 'LOG OF worker'; seen 'begun by'; seen 'begun by'
                type q
                """)
            #expect(output.contains("status 0"), "\(output)")
            let now = try await segue("ps", "-q", "worker").output
            #expect(!now.isEmpty && now != pid, "it was restarted: \(output)")
        }
    }

    @Test("'segue top' needs a project for its keys if --bus is given, and works without", .timeLimit(.minutes(1)))
    func noProject() async throws {
        try await SegueCommandLine.onBus { segue in
            let presence = """
                {"name":"music-service","version":"1","instance":"ab","pid":7,"receives":[],"sends":[]}
                """
            try await segue("send", "document.Presence", presence, "--key", "ab")
            let output = try await screen(
                segue, columns: 60, rows: 15, top: "segue top --interval 50ms --bus \(try segue.bus)",
                "seen 'music-service/ab'; type r; seen 'a restart needs a project'; type q")
            #expect(output.contains("status 0") && !output.contains("RESTARTS"), "\(output)")
        }
    }

    @Test("'segue top' draws again when the size of the terminal changes", .timeLimit(.minutes(1)))
    func resize() async throws {
        try await SegueCommandLine.onBus { segue in
            let output = try await screen(
                segue, columns: 100, rows: 30, top: "tty > terminal; segue top --interval 1h --bus \(try segue.bus)",
                """
                seen 'd dead letters  q end'
                stty -F "$(cat terminal)" cols 20 rows 15
                # A line that is cut.
                seen '[0m…'
                type q
                """)
            #expect(output.contains("status 0"), "\(output)")
        }
    }
}
