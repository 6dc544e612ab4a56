internal import FlowReview
internal import Navigation
internal import Support

/// How a session gets into a state: what happens, from the beginning, as the scenario of one flow.
package struct Story: Sendable {
    /// The steps of the scenario, one on each line. What happens only on another platform is a comment.
    package fileprivate(set) var steps: [String] = []
    /// The expected changes of each step, for a test. Nil for a comment.
    package fileprivate(set) var expectations: [String?] = []
    /// The scenario, with the changes that each step expects.
    package var text: String {
        zip(steps, expectations).map { step, expectation in
            guard let expectation else { return step }
            return "\(step)\(step.contains(scalars: ": ") ? "" : ":")\n  expect: \(expectation)"
        }.joined(separator: "\n")
    }

    /// The places of the rules, parts of guards and links that it takes.
    package fileprivate(set) var places: Set<String> = []
    /// True if the deadlines pass in the order of their times.
    package fileprivate(set) var isTimely = true
    /// True if the scenario leads to the same states as the exploration.
    package fileprivate(set) var isExact = true
}

/// Writes a story, and plays it at the same time, to know the names that its steps need.
struct StoryWriter {
    private(set) var story = Story()
    private var run: ScenarioRun
    private let platform: String
    /// The ids in the scenario of the explored messages of the last occurrence.
    private var ids: [String: String] = [:]

    init(_ flow: Flow) {
        run = ScenarioRun(of: flow)
        platform = flow.platform
    }

    /// Adds an occurrence, and the commands that flows send because of it.
    mutating func add(_ occurrence: Occurrence, sending commands: some Sequence<Machine.Input>) {
        ids = [:]
        if let act = act(of: occurrence) {
            perform(act, occurrence.input)
        } else if let comment = Self.comment(on: occurrence) {
            story.steps.append(comment)
            story.expectations.append(nil)
        }
        for input in commands {
            var message = Scenario.Message(
                type: input.type, data: input.data, platform: input.attributes.platform)
            message.causedBy = input.attributes.causationID.flatMap { ids[$0] }
            perform(.send(message), input)
        }
    }

    /// Compares the state of the scenario with that of the exploration.
    mutating func check(_ machine: Machine) {
        let isSame = ExploredMachine(run.machine).state == ExploredMachine(machine).state
        story.isExact = story.isExact && isSame
    }

    private mutating func perform(_ act: Scenario.Act, _ input: Machine.Input) {
        story.steps.append("- \(act.line)")
        let outcome = run.perform(act)
        story.expectations.append(outcome.expectation)
        if outcome.changes[.failed] == nil { story.places.formUnion(outcome.applied) }
        ids[input.id] = outcome.messages.last?.id
        if outcome.messages.isEmpty { story.isExact = false }
    }

    /// The act of the scenario. Nil for an occurrence that the flow does not see, because it is of another platform.
    private mutating func act(of occurrence: Occurrence) -> Scenario.Act? {
        let input = occurrence.input
        let state = run.machine.state
        let names = run.machine.namesByExploredName
        let isOwn = input.attributes.platform == nil || input.attributes.platform == platform
        let instance = isOwn ? occurrence.instance.map { names[$0] ?? $0 } : nil
        if let report = ViewReport(rawValue: input.type) {
            switch report {
            case _ where !isOwn: return nil
            case .backCompleted: return .back(name(instance, among: state.paths.flatMap { state[$0] }))
            case .presentationDismissed: return .dismiss(name(instance, among: state.presentations.map(\.instance)))
            case .alertAnswered: return .answer(input.data["button"]?.stringValue ?? "")
            case .tabSelected: return .tab(input.data["tab"]?.stringValue ?? "")
            default: return nil
            }
        }
        if occurrence.kind == .time { return isOwn ? deadline(input, names) : nil }
        var message = Scenario.Message(type: input.type, data: input.data)
        message.from = name(instance, among: state.open)
        message.platform = message.from == nil ? input.attributes.platform : nil
        if isOwn, let cause = input.attributes.causationID.flatMap({ names[$0] }) {
            message.causedBy = occurrence.causedBy.flatMap { run.cause($0) == cause ? $0 : nil } ?? cause
        }
        return .send(message)
    }

    /// What a user or a deadline does on another platform.
    private static func comment(on occurrence: Occurrence) -> String? {
        let input = occurrence.input
        let screen = (occurrence.instance?.cut(atLast: "-")?.before).map(String.init)
        let act: Scenario.Act? =
            switch ViewReport(rawValue: input.type) {
            case .backCompleted: .back(screen)
            case .presentationDismissed: .dismiss(screen)
            case .alertAnswered: .answer(input.data["button"]?.stringValue ?? "")
            case .tabSelected: .tab(input.data["tab"]?.stringValue ?? "")
            default: occurrence.kind == .time ? .expire : nil
            }
        return act.map { "# on \(input.attributes.platform ?? "another platform"): \($0.line)" }
    }

    /// The end of a wait, or of the time in which a parked link may be followed.
    private mutating func deadline(_ input: Machine.Input, _ names: [String: String]) -> Scenario.Act {
        var message = Scenario.Message(type: input.type, data: input.data, platform: platform)
        if let id = (input.data["attempt"]?.stringValue).flatMap({ names[$0] }) {
            if run.nextDeadline?.id == id { return .expire }
            message.data = ["attempt": .string(id)]
            story.isTimely = false
        } else if let parked = run.machine.state.parked {
            message.at = .milliseconds(parked.expires + 1)
        }
        return .send(message)
    }

    /// The name of the screen, if a scenario finds the instance by it, otherwise the instance.
    private func name(_ instance: String?, among candidates: [ScreenInstance]) -> String? {
        guard let screen = candidates.first(where: { $0.id == instance })?.screen else { return instance }
        return candidates.last { $0.screen == screen }?.id == instance ? screen : instance
    }
}
