import TestSupport

/// The faults of a round: which process is hit, how and when. The engine, the seed and the shape determine all of them.
package struct NemesisPlan: Hashable, Sendable {
    /// The steps in the order in which they are done.
    package private(set) var steps: [Step] = []

    /// The frequency of the faults, and the time for which processes are away.
    package struct Shape: Hashable, Sendable {
        package let name: String
        package var strikes: Int
        /// The number of acknowledged messages between two faults.
        package var interval: ClosedRange<Int>
        /// The number of messages that are acknowledged while a process is away.
        package var absence: ClosedRange<Int>
        /// As ``absence``, for about one in six faults of a client that is not a publisher. Nil for no such faults.
        package var longAbsence: ClosedRange<Int>?
        /// The duration in milliseconds of faults that happen once each: the broker, or the parts of the bus on NATS,
        /// are killed and stopped, and a worker or a service with timers is stopped. It is longer than a lease. Nil for
        /// no such faults.
        package var outage: ClosedRange<Int>?
        /// The duration in milliseconds for which one of the coordinators is stopped once. It is longer than a lease,
        /// so the others have its sessions when it continues. In the long shape it is also longer than
        /// `NavigationHistory.waitLimit`, so that a session that is stuck is found.
        package var standstill: ClosedRange<Int>

        /// A round of some seconds.
        package static let short = Shape(
            name: "short", strikes: 22, interval: 50...200, absence: 0...300, standstill: 6_000...7_000)
        package static let long = Shape(
            name: "long", strikes: 50, interval: 100...900, absence: 0...600, longAbsence: 12_000...20_000,
            outage: 6_000...8_000, standstill: 16_000...18_000)

        /// Rounds of another kind, in which disks are damaged: see ``DamageRound``.
        package static let damage = Shape(
            name: "damage", strikes: 0, interval: 1...1, absence: 0...0, standstill: 0...0)

        package static let all = [short, long, damage]
    }

    package init(engine: Engine = .zeroMQ, seed: UInt64, shape: Shape) {
        var random = SeededGenerator(seed: seed)
        var away: [Member: Int] = [:]
        var now = 0
        for _ in 0..<shape.strikes {
            now += Int.random(in: shape.interval, using: &random)
            away = away.filter { $0.value > now }
            // Without a publisher no message is acknowledged, so no further step would be done.
            let isPublisherAway = away.keys.contains(where: \.isPublisher)
            // With two of three servers away, neither.
            let isServerAway = away.keys.contains(where: \.isServer)
            let present = Member.targets(on: engine).filter {
                away[$0] == nil && !($0.isPublisher && isPublisherAway) && !($0.isServer && isServerAway)
            }
            guard let member = present.randomElement(using: &random) else { continue }
            let absence = Self.absence(of: member, shape, &random)
            away[member] = now + absence
            steps += Self.strike(member, at: now, back: now + absence, &random)
        }
        if let outage = shape.outage { steps += Self.outages(on: engine, lasting: outage, before: now, &random) }
        let standstill = Step.Action.pause(milliseconds: Int.random(in: shape.standstill, using: &random))
        let coordinator = Member.coordinator(Int.random(in: 1...Member.coordinators.count, using: &random))
        steps.append(Step(at: Int.random(in: 0..<now, using: &random), member: coordinator, action: standstill))
        // A stable order: steps at the same count are done in the planned order.
        steps = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    private static func absence(of member: Member, _ shape: Shape, _ random: inout SeededGenerator) -> Int {
        switch member {
        case .broker, .servers: return 0
        case .publisher, .leader, .follower, .steward: return Int.random(in: shape.absence, using: &random)
        case .visitor, .subscriber, .consumer, .worker, .timers, .coordinator:
            let isLong = Int.random(in: 0..<6, using: &random) == 0
            return Int.random(in: isLong ? shape.longAbsence ?? shape.absence : shape.absence, using: &random)
        }
    }

    private static func outages(
        on engine: Engine, lasting range: ClosedRange<Int>, before end: Int, _ random: inout SeededGenerator
    ) -> [Step] {
        let number = Int.random(in: 1...2, using: &random)
        let worker = Bool.random(using: &random) ? Member.worker(number) : .timers(number)
        let hits: [(Member, (Int) -> Step.Action)] =
            switch engine {
            case .zeroMQ: [(.broker, Step.Action.absence), (.broker, Step.Action.pause), (worker, Step.Action.pause)]
            case .nats:
                [
                    (.servers, Step.Action.absence), (.servers, Step.Action.pause), (.leader, Step.Action.pause),
                    (.follower, Step.Action.damage), (.steward(1), Step.Action.pause),
                    (.steward(2), Step.Action.absence), (worker, Step.Action.pause),
                ]
            }
        return hits.map { member, action in
            let at = Int.random(in: 0..<end, using: &random)
            return Step(at: at, member: member, action: action(Int.random(in: range, using: &random)))
        }
    }

    private static func strike(
        _ member: Member, at now: Int, back: Int, _ random: inout SeededGenerator
    ) -> [Step] {
        let dice = Int.random(in: 0..<4, using: &random)
        let (hit, end): (Step.Action, Step.Action?) =
            switch (member, dice) {
            case (.broker, 0), (.servers, 0): (.pause(milliseconds: Int.random(in: 1...400, using: &random)), nil)
            case (.consumer, 0), (.consumer, 1): (.takeOver, .release)
            // A visitor that stops between making a message and publishing it would let its input seem to wait.
            case (.broker, _), (.servers, _), (.visitor, _), (_, 2), (_, 3): (.kill, .start)
            case (.coordinator, 1): (.leave, .start)
            default: (.stop, .resume)
            }
        return [Step(at: now, member: member, action: hit)]
            + (end.map { [Step(at: back, member: member, action: $0)] } ?? [])
    }
}

/// An action on a process.
package struct Step: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// kill -9.
        case kill
        /// SIGSTOP, until a ``resume``.
        case stop
        case resume
        /// A new incarnation after a ``kill`` or a ``leave``.
        case start
        /// SIGTERM: a coordinator gives its sessions to the others.
        case leave
        /// Stops a consumer and starts its successor. The old one continues with ``release``. One of the two is then
        /// fenced.
        case takeOver
        case release
        /// SIGSTOP for a time. If the process is a client, the publishers are stopped as well.
        case pause(milliseconds: Int)
        /// kill -9 of the broker or of other parts of the bus, which start again only after a time.
        case absence(milliseconds: Int)
        /// As ``absence``, of a server of NATS. Meanwhile one bit of its files flips.
        case damage(milliseconds: Int)
    }

    /// The total number of acknowledged messages at which the step is done.
    package let at: Int
    package let member: Member
    package let action: Action
}
