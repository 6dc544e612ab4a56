import Foundation
import Testing

@testable import Compose

@Suite("Events")
struct EventTests {
    private func actions(_ events: [ProjectEvent]) -> [String] {
        events.map { [$0.instance, $0.action.rawValue].compactMap(\.self).joined(separator: " ") }
    }

    @Test("Events of services are recorded in order, with their details")
    func run() async throws {
        let scratch = try Scratch()
        // Fails in its first run, and succeeds in the second.
        var first = Service.shell(
            "first", "mkdir once && exit 3; \(Service.notify("READY=1")); \(Service.forever)")
        first.readiness = .notify(timeout: nil)
        first.restart = .onFailure(limit: 1)
        let job = Service.shell("job", "true", after: [Dependency(on: "first", condition: .healthy)])
        try await scratch.supervisor(scratch.stack([first, job])).running { supervisor in
            try await supervisor.wait { $0.phase == .up && $0["job"]?.state == .exited }
        }
        let project = try scratch.project()
        let events = try await project.events().reduce(into: []) { $0.append($1) }
        let own = events.filter { $0.instance == "first" }
        #expect(
            own.map(\.action) == [
                .created, .starting, .exited, .restarting, .starting, .ready, .stopping, .exited, .stopped,
            ])
        #expect(own.map { $0.pid != nil } == [false, true, true, false, true, true, true, true, false])
        #expect(own[2].attributes == ["exitCode": "3"] && own[2].pid == own[1].pid)
        #expect(own[3].attributes == ["pause": "0.005", "restarts": "0"])
        #expect(own[7].attributes["signal"] == "SIGTERM")
        #expect(Double(own[5].attributes["after"] ?? "").map { $0 > 0 } == true)
        #expect(events.first?.action == .supervisorStarted && events.first?.pid == getpid())
        #expect(events.last?.action == .supervisorEnded)
        #expect(actions(events).contains("up"))
        let ofJob = try await project.events(of: ["job"]).reduce(into: []) { $0.append($1.action) }
        #expect(ofJob == [.created, .starting, .exited, .stopped])
        #expect(throws: ComposeError.self) { try project.events(of: ["nobody"]) }
    }

    @Test("A follower continues with the next run of the project, and a period limits the events")
    func follow() async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([.shell("a", "true")])
        let first = try scratch.supervisor(stack)
        let second = try scratch.supervisor(stack)
        try await within("the first run") { try await first.run() }
        let project = try scratch.project()
        let until = Date()
        let events = try project.events(follow: true)
        let ends = try await within("both runs") {
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask {
                    await events.filter { $0.action == .supervisorEnded }.prefix(2).reduce(0) { count, _ in count + 1 }
                }
                try await second.run()
                return try await group.next()
            }
        }
        #expect(ends == 2)
        let early = try await project.events(in: LogPeriod(until: until)).reduce(into: []) { $0.append($1.action) }
        #expect(early.filter { $0 == .supervisorEnded }.count == 1)
    }

    @Test("Health, faults and removal are recorded as events with their reasons")
    func changes() throws {
        let identity = try #require(ProcessIdentity(of: getpid()))
        var before = ProjectStatus(project: "p", supervisor: identity, bus: "ipc:///x")
        var service = InstanceStatus(name: "web-2", service: "web", replica: 2)
        service.state = .ready
        service.process = identity
        service.health = ServiceHealth(state: .healthy)
        before.services = [service, InstanceStatus(name: "old", service: "old")]
        var after = before
        after.services.removeLast()
        after.services[0].health = ServiceHealth(state: .unhealthy, failures: 3, reason: "no answer")
        after.services[0].state = .running
        let ill = ProjectEvent.changes(from: before, to: after, at: .now)
        #expect(actions(ill) == ["web-2 unhealthy", "old removed"])
        #expect(ill[0].attributes == ["reason": "no answer"] && ill[0].service == "web" && ill[0].pid == getpid())
        before = after
        (after.services[0].state, after.services[0].fault) = (.stopping, "is unhealthy: no answer")
        let stopping = ProjectEvent.changes(from: before, to: after, at: .now)
        #expect(stopping.map(\.attributes) == [["reason": "is unhealthy: no answer"]])
        before = after
        after.services[0].message = "this is no event"
        #expect(ProjectEvent.changes(from: before, to: after, at: .now).isEmpty)
    }

    @Test("An event is read as it was written, and an invalid one is skipped")
    func records() throws {
        var event = ProjectEvent(.failed, time: Date(timeIntervalSince1970: 1))
        (event.instance, event.pid, event.attributes) = ("a", 7, ["reason": "a \"quote\"\nand a line"])
        let record = try event.record()
        #expect(record.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        #expect(ProjectEvent(LogRecord.line(record.dropLast(), of: "events")) == event)
        for text in ["", "{}", "{\"action\":\"danced\",\"attributes\":{}}"] {
            #expect(ProjectEvent(LogLine(service: "events", timestamp: .now, text: text)) == nil)
        }
    }
}
