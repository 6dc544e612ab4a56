import Broker
import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Logging
import TestSupport

/// Sends valid and invalid requests to a broker without sockets, and checks everything that it returns.
package struct BrokerFuzz {
    package struct Summary: Sendable {
        package var inputs = 0
        package var answers = 0
        package var refusals: [UInt8: Int] = [:]
        package var feed = 0
        package var head: UInt64 = 0
    }

    private let path: String
    private let configuration: BrokerConfiguration
    private var generator: SeededGenerator
    private var source: RequestSource
    private let mutator = FrameMutator()
    private var now = ContinuousClock.now
    private var engine: BrokerEngine
    package private(set) var summary = Summary()

    /// - Parameter directory: The folder in which the journal is created.
    package init(seed: UInt64, directory: String) throws {
        path = "\(directory)/journal.sqlite"
        configuration = BrokerConfiguration(
            address: "ipc://\(directory)", journal: path, retention: RetentionLimits(age: .seconds(60), size: 4 << 20))
        generator = SeededGenerator(seed: seed)
        source = RequestSource(&generator)
        engine = try Self.engine(configuration, now: now)
    }

    private static func engine(
        _ configuration: BrokerConfiguration, now: ContinuousClock.Instant
    ) throws -> BrokerEngine {
        try BrokerEngine(
            journal: Journal(path: configuration.journal), configuration: configuration,
            logger: .silent, clock: BrokerClock(start: now), now: now)
    }

    /// - Throws: ``FuzzFailure`` if the broker does something that it must not do.
    package mutating func run(inputs: Int) throws {
        let end = summary.inputs + inputs
        while summary.inputs < end {
            let turn = (0..<Int.random(in: 1...8, using: &generator)).map { _ in input() }
            let before = engine.journal.head
            try check(engine.handle(turn, now: now), since: before)
            let count = summary.inputs
            summary.inputs += turn.count
            if count / 500 != summary.inputs / 500 { try second() }
            if count / 20_000 != summary.inputs / 20_000 { try restart() }
        }
        try restart()
    }

    private mutating func input() -> Incoming {
        let id = generator.next() % RequestSource.idCount
        let request = source.next(id: id, epoch: engine.journal.epoch, head: engine.journal.head, &generator)
        let frames = request.frames(id: id)
        let sent = generator.chance(2, in: 5) ? frames : mutator.mutate(frames, &generator)
        return Incoming(peer: [UInt8.random(in: 0..<5, using: &generator)], frames: sent)
    }

    private mutating func second() throws {
        now = now.advanced(by: .seconds(1))
        let before = engine.journal.head
        try check(engine.tick(now: now), since: before)
        guard generator.chance(1, in: 10) else { return }
        var outgoing = Outgoing()
        while engine.prune(now: now, into: &outgoing) {}
    }

    private mutating func check(_ outgoing: Outgoing, since head: UInt64) throws {
        for (_, frames) in outgoing.frames {
            summary.answers += 1
            try check(frames)
            source.learn(frames)
        }
        var last = head
        for message in outgoing.feed {
            summary.feed += 1
            guard Topic(message.topic) != nil, message.topic.utf8.count <= 240 else {
                throw FuzzFailure("the invalid topic '\(message.topic)' was accepted")
            }
            guard message.offset > 0 else { continue }
            guard message.offset == last + 1, message.previous < message.offset else {
                throw FuzzFailure("offset \(message.offset) follows \(last)")
            }
            last = message.offset
        }
        guard last == engine.journal.head else {
            throw FuzzFailure("the journal ends at \(engine.journal.head), the feed at \(last)")
        }
    }

    private mutating func check(_ frames: [[UInt8]]) throws {
        if try Notice(frames) != nil { return }
        // If the head of a request is invalid, the reply contains it unchanged: only the status can be checked.
        guard frames.count >= 2, RequestHead.id(of: frames[0]) != nil else {
            guard frames.count == 2, let code = frames[1].first, code > 0 else {
                throw FuzzFailure("an invalid request was not refused")
            }
            summary.refusals[code, default: 0] += 1
            return
        }
        do {
            guard case .refused(let error) = try Reply.read(frames).reply else { return }
            // The server of a query chooses the code of a refusal.
            guard (try? RequestHead(frames[0]).operation) != .ask else { return }
            summary.refusals[error.code.rawValue, default: 0] += 1
            guard (1...14).contains(error.code.rawValue), error.code != .journal, !error.message.isEmpty else {
                throw FuzzFailure("refused with \(error.code.rawValue): \(error.message)")
            }
        } catch let error as ProtocolError {
            throw FuzzFailure("a reply cannot be read: \(error.message)")
        }
    }

    /// Checks that the journal is intact and can be read completely.
    private mutating func restart() throws {
        summary.head = engine.journal.head
        let epoch = engine.journal.epoch
        engine = try Self.engine(configuration, now: now)
        guard engine.journal.head == summary.head, engine.journal.epoch == epoch else {
            throw FuzzFailure("the journal ended at \(summary.head), and after a restart at \(engine.journal.head)")
        }
        let verdict = try DatabaseQueue(path: path).read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        guard verdict == "ok" else { throw FuzzFailure("integrity_check: \(verdict ?? "")") }
        var after: UInt64 = 0
        while true {
            let filters = MessageKind.allCases.map { "\($0.rawValue)." }
            let request = Request.read(PageRequest(epoch: 0, after: after, prefixes: filters))
            let outgoing = engine.handle([Incoming(peer: [9], frames: request.frames(id: 1))], now: now)
            guard let frames = outgoing.frames.first?.frames, case .page(let page) = try Reply.read(frames).reply,
                page.damaged.isEmpty
            else { throw FuzzFailure("the journal cannot be read after offset \(after)") }
            after = page.through
            if page.isComplete { return }
        }
    }
}

/// A violation of the protocol by the broker.
package struct FuzzFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The resident memory of this process in bytes; 0 if there is no /proc.
package func residentMemory() -> Int {
    let fields = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (fields.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
