import EarlierMachine
import FlowFiles
import Navigation
import SampleFlows
import Support
import TestSupport

/// Runs the machine and an earlier version of it on random flows and random messages, and finds differences between
/// their effects and their snapshots.
package struct MachineComparison {
    /// What the messages of a comparison have done.
    package struct Summary: Sendable {
        package var steps = 0
        package var changes = 0
        package var failures = 0
        package var restorations = 0
        package var flows = 0
        package var sessions = 0
        /// The number of effects of each kind.
        package var effects: [String: Int] = [:]
    }

    /// A difference between the machines.
    package struct Difference: Error, CustomStringConvertible {
        package let description: String
    }

    package private(set) var summary = Summary()
    private var seed: UInt64

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// The number of open runs of child flows, and of open screens, from which a new session begins: sessions grow
    /// without end, and the time for a message with them.
    private static let sizeLimit = 12

    /// Compares the machines for this number of messages: on random flows and, in turn, on the sample flows.
    package mutating func run(steps: Int, messagesOfFlow: Int = 1_000) throws {
        let end = summary.steps + steps
        let samples = try Self.samples()
        while summary.steps < end {
            seed &+= 1
            var random = RandomFlow(seed: seed)
            let flow = seed.isMultiple(of: 4) ? samples[Int(seed / 4) % samples.count] : try random.flow()
            let count = min(messagesOfFlow, end - summary.steps)
            do {
                try compare(flow, messages: count)
            } catch let difference as Difference {
                throw Difference(description: "seed \(seed), flow \(flow.name): \(difference)")
            }
        }
    }

    private static func samples() throws -> [Navigation.Flow] {
        [
            try PlaygroundFlow.flow(), try ShippedFlows.flow("ios"), try ShippedFlows.flow("mac"), try GuardFlow.flow(),
            try LinkFlow.flow(), try SignUpFlow.built(),
        ]
    }

    private mutating func compare(_ flow: Navigation.Flow, messages: Int) throws {
        let earlierFlow = try EarlierMachine.Flow(yaml: flow.yaml, file: "earlier.yaml")
        // Through YAML too, so that both flows are equal.
        let flow = try Navigation.Flow(yaml: flow.yaml, file: "earlier.yaml")
        guard flow.hash == earlierFlow.hash else { throw Difference(description: "the flows differ") }
        summary.flows += 1
        summary.sessions += 1
        var machine = Navigation.Machine(flow: flow)
        var earlier = EarlierMachine.Machine(flow: earlierFlow)
        var source = RandomMessages(for: flow, seed: seed)
        for number in 0..<messages {
            if machine.state.runs.count + machine.state.open.count > Self.sizeLimit {
                (machine, earlier) = (Navigation.Machine(flow: flow), EarlierMachine.Machine(flow: earlierFlow))
                summary.sessions += 1
            }
            let input = source.next(for: machine.state, platform: flow.platform)
            let revision = machine.revision
            let effects = machine.handle(input)
            let expected = earlier.handle(EarlierMachine.Machine.Input(input))
            summary.steps += 1
            guard effects.count == expected.count, try zip(effects, expected).allSatisfy(Self.areSame) else {
                throw Difference(description: "message \(number), \(input): \(effects) instead of \(expected)")
            }
            for effect in effects { record(effect) }
            guard machine.revision == earlier.revision else {
                throw Difference(description: "message \(number), \(input): another revision")
            }
            let isRestored = number % 50 == 49
            if machine.revision != revision { summary.changes += 1 } else if !isRestored { continue }
            let snapshot = machine.snapshot
            let (text, earlierText) = (try Self.json(snapshot), try Self.json(earlier.snapshot))
            guard text == earlierText else {
                let (own, other) = (String(decoding: text, as: UTF8.self), String(decoding: earlierText, as: UTF8.self))
                throw Difference(description: "message \(number), \(input): \(own) instead of \(other)")
            }
            guard isRestored else { continue }
            let restored = Navigation.Restoration(snapshot, flow: flow)
            let earlierRestored = EarlierMachine.Restoration(earlier.snapshot, flow: earlierFlow)
            guard restored.effects.count == earlierRestored.effects.count,
                try zip(restored.effects, earlierRestored.effects).allSatisfy(Self.areSame)
            else { throw Difference(description: "message \(number): another restoration") }
            (machine, earlier) = (restored.machine, earlierRestored.machine)
            summary.restorations += 1
        }
    }

    private mutating func record(_ effect: Navigation.Machine.Effect) {
        let kind =
            switch effect {
            case .openURL: "openURL"
            case .send: "send"
            case .ask: "ask"
            case .expectAnswer: "expectAnswer"
            case .began: "began"
            case .passed: "passed"
            case .screenDismissed: "screenDismissed"
            case .messageDiscarded: "messageDiscarded"
            case .commandExpired: "commandExpired"
            case .expectScreenGone: "expectScreenGone"
            case .failed: "failed"
            }
        summary.effects[kind, default: 0] += 1
    }

    private static func json(_ value: some Encodable) throws -> [UInt8] { try JSONWriter.bytes(of: value) }

    private static func areSame(
        _ effect: Navigation.Machine.Effect, _ other: EarlierMachine.Machine.Effect
    ) throws -> Bool {
        switch (effect, other) {
        case (.openURL(let url), .openURL(let other)): url == other
        case (.send(let type, let data), .send(let otherType, let otherData)): type == otherType && data == otherData
        case (
            .ask(let id, let type, let data, let instance, let time),
            .ask(let otherID, let otherType, let otherData, let otherInstance, let otherTime)
        ):
            id == otherID && type == otherType && data == otherData && instance == otherInstance && time == otherTime
        case (.expectAnswer(let attempt, let time), .expectAnswer(let other, let otherTime)):
            attempt == other && time == otherTime
        case (.began(let attributes), .began(let other)): try json(attributes) == json(other)
        case (.passed(let snapshot), .passed(let other)): try json(snapshot) == json(other)
        case (.screenDismissed(let instance, let screen), .screenDismissed(let other, let otherScreen)):
            instance == other && screen == otherScreen
        case (.messageDiscarded(let id, let reason), .messageDiscarded(let other, let otherReason)):
            id == other && reason == otherReason
        case (.commandExpired(let id, let type), .commandExpired(let other, let otherType)):
            id == other && type == otherType
        case (.expectScreenGone(let instance), .expectScreenGone(let other)): instance == other
        case (.failed(let failure), .failed(let other)):
            failure.code == other.code && failure.message == other.message
        default: false
        }
    }
}

extension EarlierMachine.Machine.Input {
    fileprivate init(_ input: Navigation.Machine.Input) {
        let attributes = input.attributes
        self.init(
            id: input.id, type: input.type, subject: input.subject, data: input.data,
            attributes: EarlierMachine.Machine.Attributes(
                platform: attributes.platform, device: attributes.device, instance: attributes.instance,
                causationID: attributes.causationID, time: attributes.time, expiry: attributes.expiry))
    }
}
