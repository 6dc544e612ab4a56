import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import Support
import TestSupport
import Testing
import Transports

@testable import ServiceRuntime

@Suite("Service process")
struct ServiceProcessTests {
    private let factory = BusFactory { address, source, _ in
        guard address.hasPrefix("memory:") else { throw BusError(.address, "'\(address)' is no address") }
        return EventBus.inMemory(source: source)
    }

    private func context(
        bus: String? = nil, _ environment: [String: String],
        of process: ServiceProcess = ServiceProcess("greeter", instance: "i1")
    ) throws -> ServiceContext {
        var options = ServiceOptions()
        options.insecure = false
        options.bus = bus
        return try process.makeContext(
            options, bus: factory, configuration: ServiceConfiguration(environment: environment), logger: .silent)
    }

    @Test("A process finds the bus by SEGUE_BUS, and --bus has precedence")
    func busAddress() throws {
        #expect(try context(["SEGUE_BUS": "memory:a"]).busAddress == "memory:a")
        #expect(try context(bus: "memory:b", ["SEGUE_BUS": "memory:a"]).busAddress == "memory:b")
        #expect(try context(["SEGUE_BUS": "memory:a"]).bus.source == "greeter/i1")
    }

    @Test("A process without a bus is refused with the ways to name one", arguments: [[:], ["SEGUE_BUS": ""]])
    func noBus(environment: [String: String]) throws {
        let error = #expect(throws: ConfigurationError.self) { try context(environment) }
        #expect(error?.description.contains("SEGUE_BUS") == true)
        #expect(error?.description.contains("--bus") == true)
    }

    private struct Picky: CommandMessage {
        enum Word: String, Codable {
            case please
        }

        var word: Word
    }

    @Test("A process declares the fields of its messages, and of its queries also those of the answer")
    func contract() throws {
        let unheard = MessageType(kind: .event, name: "Unheard")
        let process = ServiceProcess(
            "greeter", version: "2", receives: [DeclaredMessage(Query.Salutation.self)],
            sends: [DeclaredMessage(unheard)])
        #expect(
            try process.contract()
                == Document.ServiceContract(
                    name: "greeter", version: "2",
                    receives: [
                        MessageContract(
                            type: Query.Salutation.type, data: .object(["name": .init(.string)]),
                            answer: .object(["text": .init(.string)]))
                    ], sends: [MessageContract(type: unheard)]))
        let error = #expect(throws: SchemaError.self) {
            try ServiceProcess("greeter", receives: [Picky.self]).contract()
        }
        #expect(error?.description.contains("Word") == true)
    }

    @Test("A process of handlers declares what each of them sends, by the type that it handles")
    func handlers() throws {
        let handlers = ["one", "two"].map { name in
            Handlers(name).on(Command.Greet.self, sends: name == "one" ? [DomainEvent.Greeted.self] : []) { _, _ in [] }
        }
        let two = handlers[1].on(DomainEvent.Greeted.self, sends: Document.ErrorBanner.self) { _, _ in [] }
        let contract = try ServiceProcess("greeter", [handlers[0], two]).contract()
        #expect(
            contract.handlers == [
                "command.Greet": ["event.Greeted"], "event.Greeted": ["document.ErrorBanner"],
            ])
        #expect(try ServiceProcess("greeter", receives: [Command.Greet.self]).contract().handlers == nil)
    }

    @Test(
        "A process with a name that documents cannot contain does not start",
        arguments: [("a b", "i1"), ("a", "../i")])
    func names(name: String, instance: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try context(["SEGUE_BUS": "memory:a"], of: ServiceProcess(name, instance: instance))
        }
        #expect(error?.message.hasSuffix("is not the name of a process") == true)
    }

    @Test("A missing variable is refused with its name")
    func missingVariable() throws {
        let context = try context(["SEGUE_BUS": "memory:a", "EMPTY": "", "SPOTIFY_CLIENT_ID": "id"])
        #expect(try context.require("SPOTIFY_CLIENT_ID") == "id")
        for name in ["MISSING", "EMPTY"] {
            let error = #expect(throws: ConfigurationError.self) { try context.require(name) }
            #expect(error?.description.hasPrefix("\(name) is not set; ") == true)
        }
    }

    @Test("A process keeps its state in its own folder, which only its owner can open")
    func stateDirectory() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let root = scratch.path("state")
        let directory = try context(["SEGUE_BUS": "memory:a", "SEGUE_STATE_DIR": root]).stateDirectory
        #expect(directory.path == root + "/greeter")
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test("A state folder that others can enter is refused")
    func openStateDirectory() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let directory = scratch.path("greeter")
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o750])
        let context = try context(["SEGUE_BUS": "memory:a", "SEGUE_STATE_DIR": scratch.path])
        let error = #expect(throws: ConfigurationError.self) { try context.stateDirectory }
        #expect(error?.description.hasPrefix("\(directory) is not a folder that only you can enter; ") == true)
    }

    @Test("A state folder that cannot be created is refused with its path")
    func stateDirectoryFailure() throws {
        let context = try context(["SEGUE_BUS": "memory:a", "SEGUE_STATE_DIR": "/dev/null"])
        let error = #expect(throws: ConfigurationError.self) { try context.stateDirectory }
        #expect(error?.message.contains("/dev/null/greeter") == true)
    }

    @Test("SEGUE_LOG_LEVEL sets the log level, otherwise the process's default")
    func logLevel() throws {
        #expect(try ServiceConfiguration(environment: [:]).logLevel() == .info)
        #expect(try ServiceConfiguration(environment: [:]).logLevel(standard: .warning) == .warning)
        #expect(
            try ServiceConfiguration(environment: ["SEGUE_LOG_LEVEL": "DEBUG"]).logLevel(standard: .warning) == .debug)
        let error = #expect(throws: ConfigurationError.self) {
            try ServiceConfiguration(environment: ["SEGUE_LOG_LEVEL": "loud"]).logLevel()
        }
        #expect(error?.description.contains("'loud'") == true)
        #expect(error?.description.contains("trace, debug, info") == true)
    }

    @Test("A process that a restart cannot help ends with its own exit status")
    func exitStatus() {
        #expect(ExitStatus(of: ConfigurationError("wrong", recovery: "mend it")).rawValue == 78)
        #expect(ExitStatus(of: ConfigurationErrors([ConfigurationError("wrong", recovery: "mend it")])).rawValue == 78)
        #expect(ExitStatus(of: BusError(.address, "wrong")).rawValue == 78)
        #expect(ExitStatus(of: BusError(.unavailable, "away")).rawValue == 69)
        #expect(ExitStatus(of: BusError(.journal, "full")).rawValue == 74)
        #expect(ExitStatus(of: BusError(.fenced, "taken over")).rawValue == 70)
        #expect(ExitStatus(of: CancellationError()).rawValue == 70)
    }

    @Test("A failure is described in one line")
    func oneLine() {
        #expect(ServiceProcess.line(about: BusError(.journal, "the disk\nis full\r\n")) == "the disk is full")
    }
}
