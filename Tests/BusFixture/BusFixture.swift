import ArgumentParser
import BusSoak
import EventBus

/// A process that takes part in the bus's fault tests, which may kill it without notice.
@main
struct BusFixture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bus-fixture",
        subcommands: [
            Publish.self, Visit.self, Subscribe.self, Consume.self, Timers.self, Lease.self, Stall.self,
        ])
}

/// The options of every role.
struct FixtureOptions: ParsableArguments {
    @Option(help: "The bus, such as ipc:///run/segue.")
    var bus: String

    @Option(help: "The name of this incarnation.")
    var name: String

    @Option(help: "The file in which the process records its actions.")
    var history: String

    func process() throws -> FixtureProcess {
        try FixtureProcess(name: name, address: bus, history: history)
    }
}

struct Publish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Publishes unique values.")

    @OptionGroup var options: FixtureOptions

    @Option(help: "The number of tasks that publish at the same time.")
    var lanes = 8

    @Option(help: "The number of values in one batch.")
    var batch = 4

    @Option(help: "The number of values of each task. Without this option it publishes until SIGTERM.")
    var count: Int?

    @Option(help: "The number of bytes in each message in addition to its value.")
    var padding = 0

    @Option(help: "The pause of each task after a batch, in milliseconds.")
    var pause = 0

    func run() async throws {
        var role = PublisherRole(name: options.name)
        role.pause = .milliseconds(pause)
        (role.lanes, role.batch, role.count, role.padding) = (lanes, batch, count, padding)
        let publisher = role
        throw ExitCode(
            try await options.process().run { bus, history, logger in
                try await publisher.run(on: bus, history: history, logger: logger)
            })
    }
}

struct Visit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Uses sessions of the coordinators.")

    @OptionGroup var options: FixtureOptions

    func run() async throws {
        let visitor = VisitorRole(name: options.name)
        throw ExitCode(
            try await options.process().run { bus, history, logger in
                try await visitor.run(on: bus, history: history, logger: logger)
            })
    }
}

struct Subscribe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Records all values from the beginning of the journal.")

    @OptionGroup var options: FixtureOptions

    func run() async throws {
        throw ExitCode(
            try await options.process().runUntilStopped { bus, history, _ in
                try await SubscriberRole.run(on: bus, history: history)
            })
    }
}

struct Consume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Publishes one result for each value.")

    @OptionGroup var options: FixtureOptions

    @Option(help: "The name of the durable consumer.")
    var group: String

    @Flag(help: "Share the consumer with the other processes that have this flag.")
    var shared = false

    func run() async throws {
        let (group, mode) = (group, shared ? ConsumerMode.shared : .exclusive)
        throw ExitCode(
            try await options.process().runUntilStopped { bus, history, logger in
                try await ConsumerRole.run(group: group, mode: mode, on: bus, history: history, logger: logger)
            })
    }
}

struct Timers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sets timers and takes them back, as a service does.")

    @OptionGroup var options: FixtureOptions

    func run() async throws {
        throw ExitCode(
            try await options.process().runUntilStopped { bus, history, logger in
                try await TimerRole.run(on: bus, history: history, logger: logger)
            })
    }
}

struct Lease: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Holds a leased document.")

    @OptionGroup var options: FixtureOptions

    func run() async throws {
        let name = options.name
        throw ExitCode(
            try await options.process().runUntilStopped { bus, history, _ in
                try await LeaseRole.run(name: name, on: bus, history: history)
            })
    }
}

struct Stall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscribes, and reads nothing until another process opens a pipe.")

    @OptionGroup var options: FixtureOptions

    @Option(help: "The number of events to read after that.")
    var count: Int

    @Option(help: "The named pipe that another process opens for writing.")
    var pipe: String

    func run() async throws {
        let (count, pipe) = (count, pipe)
        throw ExitCode(
            try await options.process().runUntilStopped { bus, _, logger in
                try await StalledRole.run(count: count, pipe: pipe, on: bus, logger: logger)
            })
    }
}
