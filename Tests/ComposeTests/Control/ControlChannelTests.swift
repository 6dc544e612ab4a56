import Foundation
import Testing

@testable import Compose
@testable import SystemSupport

@Suite("Control channel")
struct ControlChannelTests {
    private static func supervisor(_ scratch: Scratch) throws -> Supervisor {
        try scratch.supervisor(scratch.stack([.shell("a", Service.forever)]))
    }

    /// A client that sends data that no real client would send.
    private static func connect(_ scratch: Scratch) throws -> UnixStream {
        try #require(UnixStream.connect(to: scratch.project().controlPath))
    }

    private static func exchange(_ text: [UInt8], _ scratch: Scratch) async throws -> String {
        let socket = try connect(scratch)
        await socket.writeAll(Data(text))
        return String(decoding: try #require(await socket.readAll(limit: 1 << 20)), as: UTF8.self)
    }

    @Test("A request returns its changes, an error has its code, and a rehearsal changes nothing")
    func exchange() async throws {
        let scratch = try Scratch()
        let client = ControlClient(project: try scratch.project())
        try await Self.supervisor(scratch).running { supervisor in
            let before = try await supervisor.wait(for: "a") { $0.state == .running && $0.isUp }
            let rehearsed = try await client.send(.stop(services: [], grace: nil), isRehearsal: true)
            #expect(rehearsed == [Change(instance: "a", action: .stop, round: 1)])
            #expect(supervisor.status["a"] == before)

            let error = try await #require(throws: ComposeError.self) { try await client.send(.start(services: ["b"])) }
            #expect(error.code == "unknown-service")

            let request = ControlRequest.restart(services: ["a"], followed: true, grace: .seconds(5))
            #expect(try await client.send(request) == [Change(instance: "a", action: .restart, round: 2)])
            let after = try await supervisor.wait(for: "a") { $0.round == 2 && $0.state == .running }
            #expect(after.pid != before.pid)
        }
    }

    @Test("Garbage, silent or vanished clients, and many requests at once do not disturb the supervisor")
    func rubbish() async throws {
        let scratch = try Scratch()
        let client = ControlClient(project: try scratch.project())
        try await Self.supervisor(scratch).running { supervisor in
            try await supervisor.wait(for: "a") { $0.state == .running }
            for text in ["", "{", "{\"request\":{\"dance\":{}},\"isRehearsal\":false}", "\u{0}\u{0}"] {
                let reply = try await Self.exchange(Array(text.utf8), scratch)
                #expect(reply.contains("\"control-request\""), "\(text)")
            }
            // The number of connections is greater than the server's maximum.
            let silent = try (0..<8).map { _ in try Self.connect(scratch) }
            defer { withExtendedLifetime(silent) {} }
            for _ in 0..<50 { _ = try Self.connect(scratch) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        let changes = try await client.send(.stop(services: [], grace: nil), isRehearsal: true)
                        #expect(changes?.count == 1)
                    }
                }
                try await group.waitForAll()
            }
            #expect(supervisor.status["a"]?.state == .running)
        }
    }

    @Test("A request that arrives after its sender has given up is refused")
    func late() async throws {
        let scratch = try Scratch()
        try await Self.supervisor(scratch).running { supervisor in
            let before = try await supervisor.wait(for: "a") { $0.state == .running && $0.isUp }
            var call = ControlCall(request: .stop(services: [], grace: nil), isRehearsal: false, deadline: .now)
            guard case .refused(let error) = await supervisor.answer(call) else {
                Issue.record("it was carried out")
                return
            }
            #expect(error.code == "control-late")
            #expect(supervisor.status["a"] == before)
            call.deadline = .now + .seconds(60)
            guard case .done = await supervisor.answer(call) else {
                Issue.record("it was refused")
                return
            }
        }
    }

    @Test("A request that is too long is refused without being stored")
    func tooLong() async throws {
        let scratch = try Scratch()
        try await Self.supervisor(scratch).running { supervisor in
            try await supervisor.wait(for: "a") { $0.state == .running }
            let socket = try Self.connect(scratch)
            await socket.writeAll(Data(repeating: UInt8(ascii: " "), count: ControlServer.longestCall + (1 << 20)))
            #expect(await socket.readAll(limit: 100)?.isEmpty != false)
            #expect(try await ControlClient(project: scratch.project()).send(.start(services: []))?.count == 1)
        }
    }

    @Test("A socket that a killed supervisor has left is detected by a connection attempt")
    func staleSocket() async throws {
        let scratch = try Scratch()
        let project = try scratch.project()
        try project.prepare(services: [])
        let descriptor = UnixSocket.descriptor(.stream)
        let address = try #require(UnixAddress(project.controlPath))
        #expect(address.withSocketAddress { bind(descriptor, $0, $1) } == 0)
        close(descriptor)
        #expect(access(project.controlPath, F_OK) == 0)
        #expect(try await ControlClient(project: project).send(.start(services: [])) == nil)
        try await Self.supervisor(scratch).running { supervisor in
            try await supervisor.wait(for: "a") { $0.state == .running }
            #expect(try await ControlClient(project: project).send(.start(services: []))?.count == 1)
        }
    }
}
