import Contracts
import EventBus
import Foundation
import Logging
import MessageSchema
import RuntimeTestSupport
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
        options.bus = bus
        return try process.makeContext(
            options, bus: factory, configuration: ServiceConfiguration(environment: environment), logger: .silent)
    }

    @Test("finds the bus by SEGUE_BUS, and --bus goes first")
    func busAddress() throws {
        #expect(try context(["SEGUE_BUS": "memory:a"]).busAddress == "memory:a")
        #expect(try context(bus: "memory:b", ["SEGUE_BUS": "memory:a"]).busAddress == "memory:b")
        #expect(try context(["SEGUE_BUS": "memory:a"]).bus.source == "greeter/i1")
    }

    @Test("says how to name the bus when nobody has", arguments: [[:], ["SEGUE_BUS": ""]])
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

    @Test("tells of each message what it carries, of a query also what it is answered with")
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

    @Test(
        "does not start with a name that the readers of its documents refuse",
        arguments: [("a b", "i1"), ("a", "../i")])
    func names(name: String, instance: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try context(["SEGUE_BUS": "memory:a"], of: ServiceProcess(name, instance: instance))
        }
        #expect(error?.message.hasSuffix("is not the name of a process") == true)
    }

    @Test("names the variable that is missing")
    func missingVariable() throws {
        let context = try context(["SEGUE_BUS": "memory:a", "EMPTY": "", "SPOTIFY_CLIENT_ID": "id"])
        #expect(try context.require("SPOTIFY_CLIENT_ID") == "id")
        for name in ["MISSING", "EMPTY"] {
            let error = #expect(throws: ConfigurationError.self) { try context.require(name) }
            #expect(error?.description.hasPrefix("\(name) is not set; ") == true)
        }
    }

    @Test("keeps its state in a folder of its own that only its owner may open")
    func stateDirectory() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let root = scratch.path("state")
        let directory = try context(["SEGUE_BUS": "memory:a", "SEGUE_STATE_DIR": root]).stateDirectory
        #expect(directory.path == root + "/greeter")
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test("refuses a folder for its state that others can enter")
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

    @Test("names the folder that cannot be made")
    func stateDirectoryFailure() throws {
        let context = try context(["SEGUE_BUS": "memory:a", "SEGUE_STATE_DIR": "/dev/null"])
        let error = #expect(throws: ConfigurationError.self) { try context.stateDirectory }
        #expect(error?.message.contains("/dev/null/greeter") == true)
    }

    @Test("logs what SEGUE_LOG_LEVEL asks for, the process's own level unless it is set")
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

    @Test("ends with a status that tells what a restart cannot mend")
    func exitStatus() {
        #expect(ExitStatus(of: ConfigurationError("wrong", recovery: "mend it")).rawValue == 78)
        #expect(ExitStatus(of: ConfigurationErrors([ConfigurationError("wrong", recovery: "mend it")])).rawValue == 78)
        #expect(ExitStatus(of: BusError(.address, "wrong")).rawValue == 78)
        #expect(ExitStatus(of: BusError(.unavailable, "away")).rawValue == 69)
        #expect(ExitStatus(of: BusError(.journal, "full")).rawValue == 74)
        #expect(ExitStatus(of: BusError(.fenced, "taken over")).rawValue == 70)
        #expect(ExitStatus(of: CancellationError()).rawValue == 70)
    }

    @Test("describes a failure in one line")
    func oneLine() {
        #expect(ServiceProcess.line(about: BusError(.journal, "the disk\nis full\r\n")) == "the disk is full")
    }
}
