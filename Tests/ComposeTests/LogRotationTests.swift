import Foundation
import Logging
import SystemSupport
import TestSupport
import Testing

@testable import Compose

@Suite("Log rotation")
struct LogRotationTests {
    /// A log in its own folder, with files so small that each contains one line.
    private struct Fixture {
        let scratch: Scratch
        let files: LogFiles

        init() throws {
            scratch = try Scratch()
            files = LogFiles(directory: scratch.path, name: "a.b")
        }

        func writer(keeping count: Int = 3) throws -> LogWriter {
            try LogWriter(files, retention: LogRetention(fileSize: 1, files: count))
        }

        func cursor(last: Int? = nil, since: Double? = nil, until: Double? = nil) -> LogCursor {
            let period = LogPeriod(
                since: since.map(Date.init(timeIntervalSince1970:)), until: until.map(Date.init(timeIntervalSince1970:))
            )
            return LogCursor(files, last: last, in: period)
        }

        func record(_ number: Int, _ stream: LogLine.Stream = .stdout, continues: Bool = false) -> [UInt8] {
            LogRecord.bytes(
                time: LogRecord.time(Date(timeIntervalSince1970: Double(number))), stream: stream,
                text: Array("\(number)".utf8), continues: continues)
        }
    }

    @Test("A limited number of files is kept, with stable names, and a log with a similar name is separate")
    func retention() throws {
        let fixture = try Fixture()
        let other = LogFiles(directory: fixture.scratch.path, name: "a")
        try LogWriter(other, retention: LogRetention()).append(fixture.record(0))
        let writer = try fixture.writer()
        for number in 1...5 { try writer.append(fixture.record(number)) }
        #expect(fixture.files.numbers == [3, 4, 5])
        #expect(other.numbers == [1])
        #expect(LogFiles.names(in: fixture.scratch.path) == ["a", "a.b"])
        #expect(texts(fixture.cursor()) == ["3", "4", "5"])
    }

    @Test("The last lines are found across files", arguments: 0...6)
    func last(count: Int) throws {
        let fixture = try Fixture()
        let writer = try fixture.writer(keeping: 5)
        for number in 1...5 { try writer.append(fixture.record(number)) }
        #expect(texts(fixture.cursor(last: count)) == (1...5).map(String.init).suffix(count))
    }

    @Test("A line that was written in parts is read as one line, also across files", arguments: [1, 1 << 20])
    func parts(fileSize: Int) throws {
        let fixture = try Fixture()
        let writer = try LogWriter(fixture.files, retention: LogRetention(fileSize: fileSize, files: 20))
        // 2 and 4 begin lines that end in 6 and 5; 7 has no end yet.
        let parts: [(Int, LogLine.Stream, Bool)] = [
            (1, .stdout, false), (2, .stdout, true), (3, .stdout, true), (4, .stderr, true), (5, .stderr, false),
            (6, .stdout, false), (7, .stderr, true),
        ]
        for (number, stream, continues) in parts {
            try writer.append(fixture.record(number, stream, continues: continues))
        }
        let wanted = [0: [], 1: ["7"], 2: ["6", "7"], 3: ["2", "3", "4", "5", "6", "7"], 4: (1...7).map(String.init)]
        for (count, texts) in wanted { #expect(self.texts(fixture.cursor(last: count)) == texts, "\(count)") }
    }

    @Test("The last lines of a file are found from its end, however long it is", .timeLimit(.minutes(1)))
    func longFile() throws {
        let fixture = try Fixture()
        let path = fixture.files.path(1)
        try Data(fixture.record(1)).write(to: URL(fileURLWithPath: path))
        // 1 TiB of zeros, which need no space on the disk.
        #expect(truncate(path, 1 << 40) == 0)
        let writer = try LogWriter(fixture.files, retention: LogRetention(fileSize: .max))
        for number in 2...4 { try writer.append(fixture.record(number)) }
        #expect(texts(fixture.cursor(last: 2)) == ["3", "4"])
    }

    @Test("A period includes both of its ends, and the last lines are those of the period")
    func period() throws {
        let fixture = try Fixture()
        let writer = try fixture.writer(keeping: 9)
        for number in 1...9 { try writer.append(fixture.record(number)) }
        #expect(texts(fixture.cursor(since: 7)) == ["7", "8", "9"])
        #expect(texts(fixture.cursor(until: 2.5)) == ["1", "2"])
        #expect(texts(fixture.cursor(since: 3, until: 5)) == ["3", "4", "5"])
        #expect(texts(fixture.cursor(last: 2, until: 5)) == ["4", "5"])
        #expect(texts(fixture.cursor(last: 4, since: 4, until: 5)) == ["4", "5"])
    }

    @Test("A reader whose files are removed meanwhile reports it and continues")
    func gap() throws {
        let fixture = try Fixture()
        let writer = try fixture.writer(keeping: 2)
        try writer.append(fixture.record(1))
        var cursor = fixture.cursor()
        #expect(cursor.next()?.text == "1")
        for number in 2...9 { try writer.append(fixture.record(number)) }
        let notice = cursor.next()
        #expect(
            notice?.stream == .notice
                && notice?.text == "lines are missing here, because they were removed before they could be read")
        #expect(cursor.next()?.text == "8", "and has opened the next file by now")
        for number in 10...11 { try writer.append(fixture.record(number)) }
        #expect(texts(cursor) == ["9", "10", "11"])
    }

    @Test("Half a record of a killed writer is a line of its own, before those of the next writer")
    func torn() throws {
        let fixture = try Fixture()
        try LogWriter(fixture.files, retention: LogRetention()).append(Array(fixture.record(1).dropLast(1)))
        var cursor = fixture.cursor()
        #expect(cursor.next() == nil, "it may still be being written")
        try LogWriter(fixture.files, retention: LogRetention()).append(fixture.record(2))
        #expect(cursor.next()?.text == "1")
        #expect(cursor.next()?.text == "2")
        try Data("nonsense\n\n2026-11-21T00:00:00.000Z what is this\n".utf8)
            .write(to: URL(fileURLWithPath: fixture.files.path(2)))
        #expect(texts(fixture.cursor()) == ["1", "2", "nonsense", "2026-11-21T00:00:00.000Z what is this"])
    }

    @Test("A follower reads each of 200,000 lines once while their files are rotated")
    func follow() async throws {
        let scratch = try Scratch()
        var options = SupervisorOptions.test
        options.logs = LogRetention(fileSize: 200_000, files: 1000)
        let script = "\(Service.notify("READY=1")); read line < go; seq 200000; \(Service.forever)"
        let stack = scratch.stack([.shell("a", script)])
        #expect(mkfifo(scratch.path + "/go", 0o600) == 0)
        try await scratch.supervisor(stack, options: options).running { supervisor in
            try await supervisor.wait(for: "a") { $0.state == .ready }
            let logs = try scratch.project().logs(follow: true)
            try "go\n".write(toFile: scratch.path + "/go", atomically: false, encoding: .utf8)
            var count = 0
            for await line in logs {
                count += 1
                if line.text != String(count) { break }
                if count == 200_000 { break }
            }
            #expect(count == 200_000, "that many came in order")
        }
        let files = try scratch.project().logFiles(of: "a").numbers
        #expect(files.count > 9)
        #expect(files == Array(1...max(files.count, 1)))
    }

    @Test(
        "A service continues while the disk is full, and the lost lines are counted in the log", .timeLimit(.minutes(1))
    )
    func diskFull() async throws {
        let scratch = try Scratch()
        let project = try scratch.project()
        let ready = Service.notify("READY=1").replacing("$", with: "$$").replacing("\"", with: "\\\"")
        let file = try scratch.write(
            """
            services:
              a:
                command: [bash, -c, "trap 'prlimit --pid $$PPID --fsize=unlimited: && echo after; kill $$!; exit' USR1; seq 100000; sleep 1000 & \(ready); wait"]
                healthcheck: {test: [NOTIFY]}
            """, to: "compose.yaml")
        let fixture = try #require(InstalledFiles.programFolder) + "/compose-fixture"
        // A maximum file size of 64 blocks for the supervisor has the effect of a full disk. SIGXFSZ is ignored, so
        // that a write fails with an error. Later, the service removes its parent's maximum.
        let script = "trap '' XFSZ; ulimit -S -f 64; exec \"$@\""
        let supervisor = DetachedSupervisor(
            project: project, executable: "/bin/bash",
            arguments: ["-c", script, "bash", fixture, file, project.name, scratch.stateRoot, scratch.runtimeRoot])
        try await within("the start") { try await supervisor.start(until: .ready) }
        let status = try #require(try ProjectStatus.read(project))
        kill(try #require(status["a"]?.pid), SIGUSR1)
        let logs = try project.logs(last: 10, follow: true)
        let end = try await within("the last line") { await logs.first { $0.text == "after" } }
        #expect(end != nil)
        try await project.stop()
        let lines = project.writtenLines(of: "a")
        let notices = lines.filter { $0.stream == .notice }.map(\.text)
        #expect(
            !notices.isEmpty
                && notices.allSatisfy { $0.hasSuffix(" lines are missing here, because they could not be written") })
        let lost = notices.compactMap { Int($0.prefix { $0.isNumber }) }.reduce(0, +)
        #expect(lost + lines.count - notices.count == 100_001, "each line is there, or was counted in its place")
        let told = try String(contentsOfFile: project.supervisorLogPath, encoding: .utf8)
        #expect(told.components(separatedBy: "cannot write the log of a service").count == 2)
    }

    @Test("A lost line counts once, however many parts it has")
    func lostLines() async throws {
        let fixture = try Fixture()
        let log = try await ServiceLog.open(
            service: "a", files: fixture.files, retention: LogRetention(fileSize: 1, files: 9),
            logger: .silent)
        let parts = String(repeating: "x", count: LogLine.maximumLength * 2 + 10)
        let steps: [(lost: [String], notice: String)] = [
            (["\(parts)\n", "short\n"], "2 lines are missing here, because they could not be written"),
            (["\(parts)\n"], "1 line is missing here, because it could not be written"),
            ([parts], "a part of a line is missing here, because it could not be written"),
        ]
        await log.append(Array("begin\n".utf8), to: .stdout)
        for step in steps {
            // A folder in place of the next file makes each write fail.
            let blocked = fixture.files.path((fixture.files.numbers.last ?? 0) + 1)
            try FileManager.default.createDirectory(atPath: blocked, withIntermediateDirectories: false)
            for text in step.lost { await log.append(Array(text.utf8), to: .stdout) }
            try FileManager.default.removeItem(atPath: blocked)
            await log.append(Array("next\n".utf8), to: .stderr)
        }
        let notices = texts(fixture.cursor()).filter { $0.contains("missing") }
        #expect(notices == steps.map(\.notice))
    }

    private func texts(_ cursor: LogCursor) -> [String] {
        var cursor = cursor
        var texts: [String] = []
        while let line = cursor.next() { texts.append(line.text) }
        return texts
    }
}
