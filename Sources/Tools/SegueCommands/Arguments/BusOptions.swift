internal import ArgumentParser
package import Compose
internal import EventBus
internal import Foundation
internal import Logging
internal import Projects
internal import Support
internal import Transports

/// The options that select a bus. The first of these that is given applies: `--bus`, the project of `-p`, the variable
/// `SEGUE_BUS`, the project of the current folder.
package struct BusOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The bus, such as ipc:///run/segue, tcp://host:port or nats://host. (default: the bus of -p, else "
                + "SEGUE_BUS, else the bus of the current folder's project)", valueName: "url"))
    var bus: String?

    @Flag(help: "Use a network address without keys: all who reach the port may read and publish everything.")
    var insecure = false

    @OptionGroup var project: ProjectOptions

    package init() {}

    /// The address of a bus.
    package struct Location: Hashable, Sendable {
        package let address: String
        /// The option, variable or project that contains the address, for error messages.
        package let origin: String
        /// The project that named the bus. Nil if an option or a variable contains the address.
        package var project: Project?
        /// The path of the key file, if not the variable `SEGUE_BUS_CURVE` but the project names it.
        package var keyFile: String?
    }

    /// - Throws: ``ComposeError`` or ``ComposeFileError`` if the project's name cannot be determined.
    package func location(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Location {
        if let bus { return Location(address: bus, origin: "--bus") }
        if project.project == nil, let bus = environment["SEGUE_BUS"], !bus.isEmpty {
            return Location(address: bus, origin: "SEGUE_BUS")
        }
        let project = try project.resolve()
        let isKeyGiven = environment[KeyFilePlace.variable].map { !$0.isEmpty } ?? false
        return Location(
            address: try project.busAddress, origin: "project '\(project.name)'", project: project,
            keyFile: isKeyGiven ? nil : try project.operatorKey)
    }

    /// True if one of the options is given.
    var isGiven: Bool { bus != nil || project.project != nil }

    /// The project of this user whose bus is selected.
    /// - Throws: ``CommandError`` `no-project` if the bus is that of no project; the errors of
    ///   ``location(environment:)``.
    func runningProject() throws -> Project {
        let location = try location()
        if let project = location.project { return project }
        if let project = try Project.all().first(where: { (try? $0.busAddress) == location.address }) { return project }
        throw CommandError(
            code: "no-project", "\(location.origin): no project here has the bus \(location.address)",
            recovery: "name a project with -p" + RunningProjects.advice, status: .unavailable)
    }

    /// The maximum time to wait for the broker. After this time, ``withBus(_:)`` throws.
    private static let connectTimeout: Duration = .seconds(3)

    /// Connects to the bus, runs `body`, and closes the connection.
    ///
    /// - Throws: ``CommandError`` if no broker answers or the address is invalid; the errors of
    ///   ``location(environment:)`` and `body`.
    func withBus<Result: Sendable>(
        _ body: @escaping @Sendable (EventBus) async throws -> Result
    ) async throws -> Result {
        let location = try location()
        let address = location.address
        let bus = try bus(at: location)
        return try await bus.whileOpen {
            try await waitForBroker(bus, at: address)
            return try await body(bus)
        }
    }

    private func bus(at location: Location) throws -> EventBus {
        do {
            let source = "segue/\(UUID().uuidString.lowercased().prefix(8))"
            return try BusFactory.standard.using(keyFile: location.keyFile).bus(
                at: location.address, source: source, isInsecure: insecure, logger: Logger(label: "segue"))
        } catch let error as BusError where error.code == .address {
            throw CommandError(
                code: error.code.rawValue, "\(location.origin): \(error.message)", status: .configuration)
        }
    }

    private func waitForBroker(_ bus: EventBus, at address: String) async throws {
        do {
            try await bus.waitUntilConnected(timeout: Self.connectTimeout)
        } catch let error as BusError where error.code == .unavailable {
            throw CommandError(
                code: error.code.rawValue, error.message, recovery: "start one with 'segue up'", status: .unavailable)
        }
    }
}

extension NameSpecification {
    /// The option that selects a session. `--subject` is its name as an attribute of CloudEvents.
    static let session: NameSpecification = [.customLong("session"), .customLong("subject")]
}
