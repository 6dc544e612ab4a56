import Foundation
import Testing

@testable import Compose

@Suite("Logs")
struct LogTests {
    @Test("No line is lost, whether it is very long, one of very many, or not terminated")
    func lines() async throws {
        let scratch = try Scratch()
        let script = """
            perl -e 'print "x" x 1_000_000, "\\n"; print "line $_\\n" for 1..20000; print "unended"'
            """
        let supervisor = try scratch.supervisor(scratch.stack([.shell("a", script)]))
        try await within("the end of the service") { try await supervisor.run() }
        let expected = [String(repeating: "x", count: 1_000_000)] + (1...20000).map { "line \($0)" } + ["unended"]
        // The comparison is reduced to a Bool first; otherwise a failure would print all lines.
        let isRead = try scratch.project().writtenLines(of: "a").map(\.text) == expected
        #expect(isRead)
    }

    @Test("Each line has its stream and its time, and can contain any bytes, in a file that only its owner can read")
    func streams() async throws {
        let scratch = try Scratch()
        let script = "printf 'good\\r\\n\\n'; printf '\\377\\000x\\n'; printf 'bad\\n  worse' >&2"
        let begin = Date()
        try await scratch.supervisor(scratch.stack([.shell("a", script)])).run()
        let lines = try scratch.project().writtenLines(of: "a")
        #expect(lines.filter { $0.stream == .stdout }.map(\.text) == ["good", "", "\u{FFFD}\0x"])
        #expect(lines.filter { $0.stream == .stderr }.map(\.text) == ["bad", "  worse"])
        #expect(lines.allSatisfy { $0.timestamp >= begin.addingTimeInterval(-0.001) && $0.timestamp <= Date() })
        let path = try scratch.project().logFiles(of: "a").path(1)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.range(of: Data("Z stdout F good\r\n".utf8)) != nil)
        #expect(bytes.range(of: Data([0xFF, 0, UInt8(ascii: "x")])) != nil, "the file keeps what cannot be shown")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("A line that is too long for memory is stored in marked parts")
    func parts() async throws {
        let scratch = try Scratch()
        let length = LogLine.maximumLength * 2 + 10
        let supervisor = try scratch.supervisor(
            scratch.stack([.shell("a", "perl -e 'print \"y\" x \(length), \"\\n.\\n\"'")]))
        try await within("the end of the service") { try await supervisor.run() }
        var lines: [LogLine] = []
        for await line in try scratch.project().logs() { lines.append(line) }
        #expect(lines.filter { $0.text != "." }.map(\.text.count).reduce(0, +) == length)
        #expect(lines.allSatisfy { $0.text.count <= LogLine.maximumLength })
        #expect(lines.first?.continues == true)
        #expect(lines.suffix(2).map(\.continues) == [false, false])
    }

    @Test("A part never ends within a character, and text that looks like a line's end is kept")
    func characters() async throws {
        let scratch = try Scratch()
        let first = "a" + String(repeating: "ä", count: LogLine.maximumLength / 2 - 1)
        let line = first + "ä" + String(repeating: "b", count: LogLine.maximumLength - 3) + "\r" + "c"
        let file = try scratch.write(line, to: "line")
        let supervisor = try scratch.supervisor(scratch.stack([.shell("a", "cat \(file)")]))
        try await within("the end of the service") { try await supervisor.run() }
        let lines = try scratch.project().writtenLines(of: "a")
        #expect(lines.count == 3 && lines.first?.text == first)
        #expect(lines.map(\.text).joined().utf8.elementsEqual(line.utf8))
    }

    @Test("The last lines of several services are in the order of their times", arguments: [0, 1, 2, 3, 100])
    func last(count: Int) async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([
            .shell("a", "printf 'a1\\na2\\na3\\n'"),
            .shell("b", "printf 'b1\\nb2\\nb3\\n'", after: [Dependency(on: "a", condition: .completed)]),
        ])
        try await scratch.supervisor(stack).run()
        var lines: [String] = []
        for await line in try scratch.project().logs(last: count) { lines.append(line.text) }
        let first = min(3, count)
        #expect(lines == ["a1", "a2", "a3"].suffix(first) + ["b1", "b2", "b3"].suffix(first))
    }

    @Test(
        "A reader that does not follow ends with the line that was last when it began", .timeLimit(.minutes(1)),
        arguments: [nil, 2] as [Int?])
    func flood(last: Int?) async throws {
        let scratch = try Scratch()
        let project = try scratch.project()
        try await scratch.supervisor(scratch.stack([.shell("a", "seq 1000")])).run()
        var lines = try project.logs(last: last).makeAsyncIterator()
        let writer = try LogWriter(project.logFiles(of: "a"), retention: LogRetention())
        let record = LogRecord.bytes(
            time: LogRecord.time(Date()), stream: .stdout, text: Array("new".utf8), continues: false)
        // Each line that is read adds one more, as if a service wrote as fast as the reader reads.
        var texts: [String] = []
        while let line = await lines.next(), line.text != "new" {
            texts.append(line.text)
            try writer.append(record)
        }
        #expect(await lines.next() == nil)
        #expect(texts == (1...1000).map(String.init).suffix(last ?? 1000))
    }

    @Test("A service's log has all its instances, and no service with a similar name")
    func instances() async throws {
        let scratch = try Scratch()
        var web = Service.shell("web", "echo $SEGUE_REPLICA")
        web.replicas = 2
        let stack = scratch.stack([web, .shell("web-7", "echo other"), .shell("webby", "echo third")])
        try await scratch.supervisor(stack).run()
        let project = try scratch.project()
        let lines = try await project.logs(of: ["web"]).reduce(into: []) { $0.append($1.text) }
        #expect(lines.sorted() == ["1", "2"])
        #expect(try await project.logs(of: ["web-2"]).reduce(into: []) { $0.append($1.text) } == ["2"])
        #expect(try await project.events(of: ["web"]).contains { $0.service != "web" } == false)
    }

    @Test("A follower continues across a restart of the service and of the project")
    func follow() async throws {
        let scratch = try Scratch()
        // The process that the trap kills exists before the trap can be triggered.
        let notify = Service.notify("READY=1")
        let script = "trap 'echo two; kill $!; exit 1' USR1; sleep 1000 & echo one; \(notify); wait"
        var service = Service.shell("a", script)
        service.restart = .onFailure(limit: 1)
        let supervisor = try scratch.supervisor(scratch.stack([service]))
        let next = try scratch.supervisor(scratch.stack([.shell("a", "echo three")]))
        let lines = try await within("all lines") {
            try await withThrowingTaskGroup(of: [String]?.self) { group in
                group.addTask {
                    try await supervisor.run()
                    return nil
                }
                let first = try await supervisor.wait(for: "a") { $0.state == .ready }
                let logs = try scratch.project().logs(of: ["a"], follow: true)
                group.addTask { await logs.prefix { $0.text != "three" }.reduce(into: []) { $0.append($1.text) } }
                kill(try #require(first.pid), SIGUSR1)
                let second = try await supervisor.wait(for: "a") { $0.state == .ready && $0.restarts == 1 }
                kill(try #require(second.pid), SIGUSR1)
                _ = try await group.next()
                try await next.run()
                return try #require(try await group.next())
            }
        }
        #expect(lines == ["one", "two", "one", "two"])
    }

    @Test("A follower that does not read does not delay a service, and finds all lines later")
    func stoppedReader() async throws {
        let scratch = try Scratch()
        let logs = try scratch.project().logs(since: .distantPast)
        var lines = logs.makeAsyncIterator()
        // This is far more than the buffers of pipes and sockets hold.
        let supervisor = try scratch.supervisor(scratch.stack([.shell("a", "seq 100000")]))
        try await within("the end of the service") { try await supervisor.run() }
        for number in 1...100_000 where await lines.next()?.text != String(number) {
            Issue.record("line \(number) is missing")
            break
        }
    }

    @Test("A follower that is cancelled still reads all that was written, and then ends")
    func followToTheEnd() async throws {
        let scratch = try Scratch()
        try await scratch.supervisor(scratch.stack([.shell("a", "seq 1000")])).run()
        let logs = try scratch.project().logs(follow: true)
        let lines = await withTaskGroup(of: [String].self) { group in
            group.addTask { await logs.reduce(into: []) { $0.append($1.text) } }
            group.cancelAll()
            return await group.next()
        }
        #expect(lines == (1...1000).map(String.init))
    }

    @Test("A request for the log of an unknown service or project is refused with the known names")
    func unknown() async throws {
        let scratch = try Scratch()
        let missing = #expect(throws: ComposeError.self) { try scratch.project().logs() }
        #expect(
            missing?.description
                == "project 'test' is not known here; start it with 'segue up', or name another project with -p")
        try await scratch.supervisor(scratch.stack([.shell("a", "true")])).run()
        let error = #expect(throws: ComposeError.self) { try scratch.project().logs(of: ["b"]) }
        #expect(error?.description == "project 'test' has no service 'b'; did you mean 'a'?")
    }
}
