import Foundation
import Testing

@testable import Compose

@Suite("Processes")
struct ProcessTests {
    @Test("A name with blanks and parentheses does not shift the fields of /proc/PID/stat")
    func stat() throws {
        let line = "42 (a b) S 9 (x) Z 7 40 41 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2"
        let entry = try #require(ProcessTable.parse(line))
        #expect(entry == .init(pid: 42, state: "Z", parent: 7, group: 40, session: 41, startTime: 987654, ticks: 26))
        #expect(!entry.isAlive)
        #expect(ProcessTable.parse("42 (cut off") == nil)
    }

    @Test("Numbers in /proc that are too large are ignored, without an overflow")
    func greatNumbers() throws {
        let greatest = "18446744073709551615"
        let line = "42 (a) S 7 40 41 0 -1 0 1 2 3 4 \(greatest) \(greatest) 5 6 20 0 1 0 \(greatest) 1 2"
        #expect(try #require(ProcessTable.parse(line)).ticks == 11)
        #expect(ProcessTable.parse("99999999999 (a) S 7 40 41 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 9 1 2") == nil)
        #expect(ProcessTable.memory(statm: "9 3 1\n") == 3 * Int(getpagesize()))
        #expect(ProcessTable.memory(rollup: "Rss: 9 kB\nPss:  5 kB\n") == 5120)
        for number in ["9223372036854775807", greatest, "9007199254740991", "-1", "x", ""] {
            #expect(ProcessTable.memory(statm: "9 \(number) 1\n") == nil, "\(number)")
            #expect(ProcessTable.memory(rollup: "Pss: \(number) kB\n") == nil, "\(number)")
        }
    }

    @Test("A process id with another start time is another process")
    func identity() throws {
        let own = try #require(ProcessIdentity(of: getpid()))
        #expect(own.isAlive)
        let text = String(decoding: try JSONEncoder().encode(own), as: UTF8.self)
        let other = text.replacing("\"startTime\":\(own.startTime)", with: "\"startTime\":\(own.startTime + 1)")
        #expect(try !JSONDecoder().decode(ProcessIdentity.self, from: Data(other.utf8)).isAlive)
    }

    @Test("A zombie does not count as alive, although it can be signalled")
    func zombie() async throws {
        var pid: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        defer { free(arguments[0]) }
        #expect(posix_spawnp(&pid, "true", nil, nil, &arguments, nil) == 0)
        defer { waitpid(pid, nil, 0) }
        let handle = try #require(ProcessHandle(opening: pid))
        await handle.waitForExit()
        #expect(kill(pid, 0) == 0)
        #expect(ProcessTable.entry(of: pid)?.isAlive == false)
        #expect(ProcessIdentity(of: pid)?.isAlive == false)
        #expect(!ProcessTable.entries(ofSession: getsid(0)).filter(\.isAlive).contains { $0.pid == pid })
    }

    @Test(
        "A command line is split as in compose",
        arguments: [
            ("a b  c", ["a", "b", "c"]), ("a 'b c' \"d e\"", ["a", "b c", "d e"]), ("a''b ''", ["ab", ""]),
            (#"a\ b "c\"d" 'e\f' "g\h""#, ["a b", "c\"d", #"e\f"#, #"g\h"#]), ("", []),
            ("'\u{301}a b'\u{301} \u{301}c", ["\u{301}a b\u{301}", "\u{301}c"]), ("a\r\nb\tc", ["a", "b", "c"]),
            ("Screen\u{202F}shot a\u{A0}b c\u{3000}d", ["Screen\u{202F}shot", "a\u{A0}b", "c\u{3000}d"]),
        ]
    )
    func words(text: String, expected: [String]) {
        #expect(ShellWords.split(text) == expected)
    }

    @Test("A relative folder of PATH is relative to the folder of the service")
    func relativePath() throws {
        let scratch = try Scratch()
        try scratch.write(["service/bin/tool": ""])
        #expect(chmod("\(scratch.path)/service/bin/tool", 0o755) == 0)
        let lookup = ExecutableLookup(executableDirectory: nil)
        let found = lookup.find("tool", workingDirectory: "\(scratch.path)/service", searchPath: "/nowhere:bin")
        #expect(found == "\(scratch.path)/service/bin/tool")
        let error = #expect(throws: ComposeError.self) {
            try lookup.executable(
                of: ["~/bin/tool"], as: ServiceKey(service: "a", name: "command"), workingDirectory: scratch.path,
                searchPath: nil)
        }
        #expect(error?.recovery?.hasPrefix("'~' is not expanded: write ${HOME}") == true)
    }

    @Test("A command line with an unclosed quote is refused", arguments: ["a 'b", "a \"b", "a\\"])
    func openQuote(text: String) {
        #expect(ShellWords.split(text) == nil)
    }

    @Test("A word can be as long as a file", .timeLimit(.minutes(1)))
    func longWord() {
        let word = String(repeating: "x", count: 4 << 20)
        #expect(ShellWords.split(word) == [word])
    }

    @Test(
        "Durations of the specification are read",
        arguments: [
            ("10s", .seconds(10)), ("1m30s", .seconds(90)), ("500ms", .milliseconds(500)), ("1.5h", .seconds(5400)),
            ("250us", .microseconds(250)), ("10", nil), ("s", nil), ("", nil), ("-1s", nil), ("1e9h", nil),
            ("9999999h", nil),
        ] as [(String, Duration?)]
    )
    func duration(text: String, expected: Duration?) {
        #expect(Duration(compose: text) == expected)
    }
}
