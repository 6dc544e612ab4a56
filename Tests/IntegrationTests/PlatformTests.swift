import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import SegueTestSupport
import TestSupport
import Testing

@Suite("Processes of the platform")
struct PlatformTests {
    static let services: [TestService] = [
        .broker, TestService("error-notifier", after: ["broker"]),
        coordinator("ios"), coordinator("mac"),
    ]

    static func coordinator(_ platform: String) -> TestService {
        TestService(
            "\(platform)-coordinator",
            command: ["navigation-coordinator", "--flow", Repository.path("config/flows/\(platform).yaml")],
            after: ["broker"])
    }

    @Test("Both platforms start at launch, and leave it together", .timeLimit(.minutes(3)))
    func launch() async throws {
        try await TestStack.with(Self.services) { stack in
            for platform in ["ios", "mac"] {
                try await stack.screen("launch", on: platform)
            }
            try await stack.bus.publish(DomainEvent.LaunchFinished())
            for platform in ["ios", "mac"] {
                try await stack.screen("serviceSelection", on: platform)
            }
        }
    }

    @Test("A banner shows an error, and closes when it is dismissed", .timeLimit(.minutes(3)))
    func banner() async throws {
        try await TestStack.with(Self.services) { stack in
            let error = try await stack.bus.publish(ApplicationError(code: "test.failed", message: "It failed."))
            try await stack.document(Document.ErrorBanner.self) { $0.error?.code == "test.failed" }
            try await stack.bus.send(Command.ErrorDismissed(errorID: error.id))
            try await stack.document(Document.ErrorBanner.self) { $0.error == nil }
        }
    }

    @Test(
        "The other processes continue when one is killed, and it continues where it was", .timeLimit(.minutes(3)),
        arguments: ["broker", "ios-coordinator", "mac-coordinator", "error-notifier"])
    func kill(service: String) async throws {
        try await TestStack.with(Self.services) { stack in
            try await stack.bus.publish(DomainEvent.LaunchFinished())
            try await stack.screen("serviceSelection", on: "ios")
            try await stack.killAndRestart(service)
            let error = try await stack.bus.publish(ApplicationError(code: "test.failed", message: "It failed."))
            try await stack.document(Document.ErrorBanner.self) { $0.errorID == error.id }
            for platform in ["ios", "mac"] {
                try await stack.screen("serviceSelection", on: platform)
            }
        }
    }

    @Test(
        "Messages that are published while a service is stopped or restarts are handled later",
        .timeLimit(.minutes(3)))
    func stopped() async throws {
        try await TestStack.with(Self.services) { stack in
            try await stack.stop("error-notifier")
            let first = try await stack.bus.publish(ApplicationError(code: "test.first", message: "It failed."))
            try await stack.start("error-notifier")
            try await stack.document(Document.ErrorBanner.self) { $0.errorID == first.id }
            try await stack.restart("error-notifier")
            try await stack.bus.send(Command.ErrorDismissed(errorID: first.id))
            try await stack.document(Document.ErrorBanner.self) { $0.error == nil }
        }
    }

    @Test("A broker that hangs is replaced, and every process continues where it was", .timeLimit(.minutes(3)))
    func frozenBroker() async throws {
        var services = Self.services
        services[0].watchdog = .seconds(3)
        try await TestStack.with(services) { stack in
            try await stack.bus.publish(DomainEvent.LaunchFinished())
            try await stack.screen("serviceSelection", on: "ios")
            try await stack.freezeUntilReplaced("broker")
            let error = try await stack.bus.publish(ApplicationError(code: "test.failed", message: "It failed."))
            try await stack.document(Document.ErrorBanner.self) { $0.errorID == error.id }
            for platform in ["ios", "mac"] { try await stack.screen("serviceSelection", on: platform) }
        }
    }

    @Test(
        "A process that is killed disappears from the bus, and its successor appears", .timeLimit(.minutes(3)),
        arguments: BusEngine.allCases)
    func presence(engine: BusEngine) async throws {
        try await TestStack.with(Self.services, engine: engine.ofStack) { stack in
            let first = try await stack.message(Document.Presence.self) { $0.name == "error-notifier" }
            try await stack.killAndRestart("error-notifier")
            try await stack.message(Document.Presence.self, after: first.envelope) {
                $0.name == "error-notifier" && $0.instance != first.message.instance
            }
            try await stack.tombstone(of: first.envelope)
        }
    }

    @Test("A frozen coordinator does not delay others, and catches up when it continues", .timeLimit(.minutes(3)))
    func freeze() async throws {
        try await TestStack.with(Self.services) { stack in
            try await stack.screen("launch", on: "ios")
            try await stack.freeze("ios-coordinator")
            try await stack.bus.publish(DomainEvent.LaunchFinished())
            try await stack.screen("serviceSelection", on: "mac")
            try stack.thaw("ios-coordinator")
            try await stack.screen("serviceSelection", on: "ios")
        }
    }

    @Test(
        "A process that was frozen for longer than its lease publishes its leased documents again",
        .timeLimit(.minutes(3)),
        arguments: BusEngine.allCases)
    func lease(engine: BusEngine) async throws {
        try await TestStack.with(Self.services, engine: engine.ofStack) { stack in
            let first = try await stack.message(Document.Presence.self) { $0.name == "error-notifier" }
            try await stack.freeze("error-notifier")
            let tombstone = try await stack.tombstone(of: first.envelope)
            try stack.thaw("error-notifier")
            try await stack.message(Document.Presence.self, after: tombstone) {
                $0.instance == first.message.instance
            }
        }
    }

    @Test(
        "Malformed messages become errors, and every process continues", .timeLimit(.minutes(3)),
        arguments: BusEngine.allCases)
    func malformed(engine: BusEngine) async throws {
        try await TestStack.with(Self.services, engine: engine.ofStack) { stack in
            let attributes = Attributes(type: Command.ErrorDismissed.type, source: stack.bus.source)
            let malformed = Envelope(attributes: attributes, data: Data("{".utf8))
            try await stack.bus.publish(Batch([malformed]))
            try await stack.bus.publish(DomainEvent.LaunchFinished())
            try await stack.screen("serviceSelection", on: "mac")
            let error = try await stack.bus.publish(ApplicationError(code: "test.failed", message: "It failed."))
            try await stack.document(Document.ErrorBanner.self) { $0.errorID == error.id || $0.waiting > 0 }
        }
    }
}
