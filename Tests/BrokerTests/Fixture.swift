import BusProtocol
import EventBus
import Foundation
import GRDB
import Logging

@testable import Broker

/// An engine on a journal of its own, with one producer and a clock that is moved by hand.
final class Fixture {
    let path: String
    let producer = ProducerID()
    let configuration: BrokerConfiguration
    var now = ContinuousClock.now
    var engine: BrokerEngine
    private(set) var lastFeed: [FeedMessage] = []
    var journal: Journal { engine.journal }

    static func run(
        _ configure: (inout BrokerConfiguration) -> Void = { _ in }, _ body: (Fixture) throws -> Void
    ) throws {
        try inDirectory { directory in
            let path = "\(directory)/journal.sqlite"
            var configuration = BrokerConfiguration(address: "ipc://\(directory)", journal: path)
            configure(&configuration)
            try body(Fixture(configuration))
        }
    }

    static func inDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("segue-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path)
    }

    private init(_ configuration: BrokerConfiguration) throws {
        self.configuration = configuration
        path = configuration.journal
        engine = try Self.engine(configuration, now: now)
    }

    /// - Parameter shift: how far the wall clock has been set since the fixture was made.
    func restart(wallShift shift: Duration = .zero) throws {
        engine = try Self.engine(configuration, now: now, wallShift: shift)
    }

    private static func engine(
        _ configuration: BrokerConfiguration, now: ContinuousClock.Instant, wallShift: Duration = .zero
    ) throws -> BrokerEngine {
        let wall = Date().timeIntervalSince1970 * 1000 + wallShift / .milliseconds(1)
        return try BrokerEngine(
            journal: Journal(path: configuration.journal), configuration: configuration,
            logger: Logger(label: "broker") { _ in SwiftLogNoOpLogHandler() },
            clock: BrokerClock(start: now, wall: wall), now: now)
    }

    func handle(_ incoming: [Incoming]) -> Outgoing {
        let outgoing = engine.handle(incoming, now: now)
        lastFeed = outgoing.feed
        return outgoing
    }

    func ask(_ request: Request) -> Reply {
        reply(handle([Incoming(peer: [1], frames: request.frames(id: 1))]))
    }

    func reply(_ outgoing: Outgoing) -> Reply {
        do {
            return try Reply.read(outgoing.frames.first?.frames ?? []).reply
        } catch {
            return .refused(error)
        }
    }

    /// Moves the clock and lets the broker do what it does each second.
    @discardableResult
    func tick(after duration: Duration = .zero) throws -> [FeedMessage] {
        let end = now.advanced(by: duration)
        lastFeed = []
        repeat {
            now = min(now.advanced(by: .seconds(1)), end)
            lastFeed += try engine.tick(now: now).feed
        } while now < end
        return lastFeed
    }

    func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        try DatabaseQueue(path: path).write { try $0.execute(sql: sql, arguments: arguments) }
    }
}
