package import Navigation
internal import Support

/// A running scenario. It converts the acts of steps to messages, passes the messages to a machine, and compares the
/// changes with the expected changes.
///
/// The id of a message derives from the number of its step, such as `m3`. If the deadline of a guard passes before the
/// step's message, the message about the deadline has the id `m3.deadline`.
package struct ScenarioRun {
    package private(set) var machine: Machine
    private var count = 0
    /// The time in milliseconds since the beginning of the scenario. It changes only if a step has `at`.
    private var time = 0
    /// The time at which the deadline of each attempt and wait passes, in milliseconds since the beginning.
    private var deadlines: [String: Int] = [:]
    /// The id of the last message of each type, to which `causedBy` can refer by the type.
    private var causes: [String: String] = [:]

    package init(of flow: Flow) {
        machine = Machine(flow: flow)
    }

    /// Performs an act that is in no file.
    @discardableResult
    package mutating func perform(_ act: Scenario.Act) -> Scenario.Outcome {
        perform(Scenario.Step(position: Scenario.Position(line: count + 1, column: 1), act: act, expectation: nil))
    }

    /// The id of the message of a type to which `causedBy` refers.
    package func cause(_ type: String) -> String? { causes[type] }

    mutating func perform(_ step: Scenario.Step) -> Scenario.Outcome {
        count += 1
        let (former, before) = (machine, ScenarioObservation(machine))
        var (inputs, effects) = passDeadlines(before: step.act)
        do {
            switch step.act {
            case .begin(let target): try begin(with: target)
            case .restart: effects += try restart()
            default: break
            }
            for input in try self.inputs(of: step.act) {
                inputs.append(input)
                effects += handle(input)
            }
        } catch {
            let failure = Scenario.Failure(
                position: step.position, aspect: nil, message: error.message, expected: nil, found: nil)
            return Scenario.Outcome(
                number: count, step: step, messages: [], applied: [], words: OutcomeWords(), changes: [:],
                failures: [failure])
        }
        let after = ScenarioObservation(machine, effects)
        return Scenario.Outcome(
            number: count,
            step: step,
            messages: inputs,
            applied: effects.compactMap(\.applied),
            words: OutcomeWords(of: machine, from: former, inputs, effects),
            changes: after.changes(from: before),
            failures: step.expectation.map { failures(of: $0, before, after) } ?? failures(of: step, after)
        )
    }

    /// Handles the deadlines that pass until a message is sent.
    private mutating func passDeadlines(before act: Scenario.Act) -> ([Machine.Input], [Machine.Effect]) {
        var inputs: [Machine.Input] = []
        var effects: [Machine.Effect] = []
        guard case .send(let message) = act, let end = message.at?.milliseconds else { return ([], []) }
        while let (id, deadline) = nextDeadline, deadline <= end {
            deadlines[id] = nil
            time = max(time, deadline)
            let input = expiry(of: id, number: ".deadline\(inputs.isEmpty ? "" : String(inputs.count + 1))")
            inputs.append(input)
            effects += handle(input)
        }
        return (inputs, effects)
    }

    /// The attempt or the wait whose deadline passes next. Nil if there is none.
    package var nextDeadline: (id: String, deadline: Int)? {
        machine.state.awaitedDeadlines.compactMap { id in deadlines[id].map { (id, $0) } }.min { $0.1 < $1.1 }
    }

    private mutating func handle(_ input: Machine.Input) -> [Machine.Effect] {
        let effects = machine.handle(input)
        causes[input.type] = input.id
        record(effects)
        return effects
    }

    private mutating func record(_ effects: [Machine.Effect]) {
        for effect in effects {
            switch effect {
            case .ask(let id, let type, _, _, _): causes[type] = id
            case .expectAnswer(let attempt, let delay): deadlines[attempt] = time + delay.milliseconds
            default: break
            }
        }
    }

    /// The failures of a step without an expectation: a rule that could not be applied.
    private func failures(of step: Scenario.Step, _ after: ScenarioObservation) -> [Scenario.Failure] {
        guard after[.failed] != [] else { return [] }
        return [
            Scenario.Failure(
                position: step.position,
                aspect: .failed,
                message: "a rule could not be applied; correct it, or expect 'failed'",
                expected: nil,
                found: after[.failed]
            )
        ]
    }

    private func failures(
        of expectation: Scenario.Expectation,
        _ before: ScenarioObservation,
        _ after: ScenarioObservation
    ) -> [Scenario.Failure] {
        var failures: [Scenario.Failure] = []
        for aspect in Scenario.Aspect.allCases {
            if let stated = expectation.stated[aspect] {
                guard !stated.holds(for: after[aspect]) else { continue }
                failures.append(
                    Scenario.Failure(
                        position: stated.position,
                        aspect: aspect,
                        message: "'\(aspect.rawValue)' is not what was expected",
                        expected: stated.value,
                        found: after[aspect]
                    ))
            } else if expectation.word == .expect, !aspect.isDerived, after.differs(from: before, in: aspect) {
                failures.append(
                    Scenario.Failure(
                        position: expectation.position,
                        aspect: aspect,
                        message: "no change of '\(aspect.rawValue)' was expected",
                        expected: aspect.isEffect ? nil : before[aspect],
                        found: after[aspect]
                    ))
            }
        }
        if expectation.word == .expect, after.differsOtherwise(from: before) {
            failures.append(
                Scenario.Failure(
                    position: expectation.position,
                    aspect: nil,
                    message: "the state has changed in a part that scenarios cannot describe",
                    expected: nil,
                    found: nil
                ))
        }
        return failures
    }

    // MARK: Conversion of acts to messages

    private struct Impossible: Error {
        let message: String
    }

    private mutating func inputs(of act: Scenario.Act) throws(Impossible) -> [Machine.Input] {
        switch act {
        case .send(let message): return [try input(message)]
        case .back(let name):
            let paths = machine.state.paths.flatMap { machine.state[$0] }
            let candidates = name == nil ? machine.state.frontPath : paths
            return [report(.backCompleted, try instance(name, among: candidates, "is on a path"))]
        case .dismiss(let name):
            let presented = machine.state.presentations.map(\.instance)
            return [report(.presentationDismissed, try instance(name, among: presented, "is presented"))]
        case .answer(let button):
            let questions = machine.state.presentations.filter(\.style.isQuestion).map(\.instance)
            let question = try instance(nil, among: questions, "is presented as an alert or a dialog")
            return [report(.alertAnswered, question, ["button": .string(button)])]
        case .tab(let tab): return [report(.tabSelected, machine.state.root.instance.id, ["tab": .string(tab)])]
        case .gone(nil) where !machine.state.leaving.isEmpty:
            return machine.state.leaving.enumerated()
                .map { report(.screenGone, $1.id, number: $0 == 0 ? "" : ".\($0 + 1)") }
        case .gone(let name):
            return [report(.screenGone, try instance(name, among: machine.state.leaving, "is leaving"))]
        case .expire:
            guard let id = nextDeadline?.id ?? machine.state.awaitedDeadlines.first else {
                throw Impossible(
                    message:
                        "no guard and no rule with 'after' waits; such a rule begins to wait with a message, such as "
                        + "event.LaunchFinished")
            }
            return [expiry(of: id)]
        case .begin, .restart: return []
        }
    }

    private mutating func begin(with target: Flow.Link.Target) throws(Impossible) {
        guard count == 1 else { throw Impossible(message: "'begin' must be the first step; move it there") }
        machine = Machine(flow: machine.flow, showing: target)
    }

    /// Continues from the machine's state as it is stored.
    private mutating func restart() throws(Impossible) -> [Machine.Effect] {
        do {
            let stored = try JSONWriter.bytes(of: machine.snapshot)
            let snapshot = try JSONReader.decode(NavigationSnapshot.self, from: stored)
            let restoration = Restoration(snapshot, flow: machine.flow)
            machine = restoration.machine
            record(restoration.effects)
            return restoration.effects
        } catch {
            throw Impossible(message: "the state cannot be stored and read again: \(error)")
        }
    }

    private func expiry(of id: String, number: String = "") -> Machine.Input {
        let data: JSONValue = ["attempt": .string(id)]
        return input(Machine.deadlinePassed, data, platform: machine.flow.platform, number: number)
    }

    private mutating func input(_ message: Scenario.Message) throws(Impossible) -> Machine.Input {
        let answers = (machine.snapshot.memory.answers ?? []).filter { $0.sends == message.type }
        let sender = try message.from.map { name throws(Impossible) in
            try instance(name, among: answers.map(\.question) + machine.state.open, "is open")
        }
        // The command of a button does not name its alert, but the answer as its cause.
        let answer = answers.last { $0.question.id == sender }
        // Such a command would be refused before it is sent.
        if let declared = machine.flow.commands[message.type],
            let problem = JSONSchema.object(declared).problems(with: message.data).first
        {
            throw Impossible(message: "'\(problem.path)' of '\(message.type)': \(problem.message)")
        }
        if let at = message.at { time = at.milliseconds }
        var input = input(message.type, message.data, platform: message.platform)
        if sender != nil, message.platform == nil { input.attributes.platform = machine.flow.platform }
        input.attributes.instance = answer == nil ? sender : nil
        input.attributes.causationID = message.causedBy.map { causes[$0] ?? $0 } ?? answer?.message
        return input
    }

    private func report(
        _ report: ViewReport, _ instance: String, _ more: [String: JSONValue] = [:], number: String = ""
    ) -> Machine.Input {
        let data = more.merging(["instance": .string(instance)]) { own, _ in own }
        return input(report.rawValue, .object(data), platform: machine.flow.platform, number: number)
    }

    private func input(_ type: String, _ data: JSONValue, platform: String?, number: String = "") -> Machine.Input {
        Machine.Input(
            id: "m\(count)\(number)",
            type: type,
            data: data,
            attributes: Machine.Attributes(platform: platform, time: time)
        )
    }

    /// Returns the id of the instance that a scenario refers to. For the name of a screen, this is the screen's last
    /// instance among the candidates. An instance id is returned as it is, even if it is not among the candidates.
    private func instance(
        _ name: String?,
        among candidates: [ScreenInstance],
        _ what: String
    ) throws(Impossible) -> String {
        if let name, machine.flow.screens[name] == nil { return name }
        if let found = candidates.last(where: { name == nil || $0.screen == name }) { return found.id }
        let others =
            candidates.isEmpty ? "no other screen is" : "others are: \(candidates.map(\.id).joined(separator: ", "))"
        throw Impossible(message: name.map { "no instance of '\($0)' \(what); \(others)" } ?? "nothing \(what)")
    }
}

/// The values of all aspects for a state and the effects of a step. Each value is a list, or an object with lists by
/// name.
struct ScenarioObservation {
    private let state: NavigationState
    private let commands: [String]
    private let effects: [Machine.Effect]

    init(_ snapshot: NavigationSnapshot, _ effects: [Machine.Effect] = []) {
        state = snapshot.state
        commands = snapshot.commands
        self.effects = effects
    }

    init(_ machine: Machine, _ effects: [Machine.Effect] = []) {
        self.init(machine.snapshot, effects)
    }

    subscript(aspect: Scenario.Aspect) -> JSONValue {
        switch aspect {
        case .root: [Self.root(state.root)]
        case .top: [Self.screen(state.top)]
        case .path: .array(state[state.bottomScope].map(Self.screen))
        case .presented: .array(state.presentations.map(Self.presentation))
        case .columns: .object(columns)
        case .tab: .array((state.root.container?.selectedTab).map { [.string($0)] } ?? [])
        case .tabs: .object(tabs(beside: nil))
        case .leaving: .array(state.leaving.map(Self.screen))
        case .runs: .array(state.runs.map { ["flow": .string($0.flow), "run": .string($0.id)] })
        case .attempt: .array(state.attempts.map { Self.message($0.message) })
        case .queue: .array(state.attempts.flatMap(\.queue).map(Self.message))
        case .waits:
            .array(state.waits.filter { $0.isOver != true }.map { .string(Duration.milliseconds($0.delay).text) })
        case .parked: .array(state.parked.map { [.string($0.url)] } ?? [])
        case .commands: .array(commands.map { .string($0) })
        case .sent, .opened, .dismissed, .discarded, .failed:
            .array(effects.compactMap { Self.trace($0) }.filter { $0.aspect == aspect }.map(\.value))
        }
    }

    /// The aspects that have changed, with their new values.
    func changes(from former: ScenarioObservation) -> [Scenario.Aspect: JSONValue] {
        let changed = Scenario.Aspect.allCases.filter { differs(from: former, in: $0) }
        return Dictionary(uniqueKeysWithValues: changed.map { ($0, self[$0]) })
    }

    /// True if an aspect differs from its former value.
    func differs(from former: ScenarioObservation, in aspect: Scenario.Aspect) -> Bool {
        guard aspect == .tabs else { return self[aspect] != former[aspect] }
        // The path of the selected tab is covered by the aspect `path`.
        let selected = state.root.container?.selectedTab
        return tabs(beside: selected) != former.tabs(beside: selected)
    }

    /// True if the state differs in a property that no aspect covers.
    func differsOtherwise(from former: ScenarioObservation) -> Bool {
        var other = former.state
        other.root = state.root
        other.path = state.path
        other.presentations = state.presentations
        other.leaving = state.leaving
        other.runs = state.runs
        other.attempts = state.attempts
        other.parked = state.parked
        // The next `back`, or the end of a wait, shows these.
        other.tabHistory = state.tabHistory
        other.waits = state.waits
        return other != state
    }

    private var columns: [String: JSONValue] {
        guard case .split(let columns) = state.root.container else { return [:] }
        return columns.mapValues { .array($0.instances.map(Self.screen)) }
    }

    private func tabs(beside selected: String?) -> [String: JSONValue] {
        guard case .tabs(let tabs, _) = state.root.container else { return [:] }
        let members = tabs.map { tab in
            let instances = tab.name == selected ? [tab.stack.instance] : tab.stack.instances
            return (tab.name, JSONValue.array(instances.map(Self.screen)))
        }
        return Dictionary(members) { first, _ in first }
    }

    private static func screen(_ instance: ScreenInstance) -> JSONValue {
        .object(members: members(of: instance))
    }

    private static func members(of instance: ScreenInstance) -> [(String, JSONValue?)] {
        [
            ("screen", .string(instance.screen)), ("instance", .string(instance.id)),
            ("arguments", instance.arguments.isEmpty ? nil : .object(instance.arguments)),
        ]
    }

    private static func root(_ root: RootScreen) -> JSONValue {
        let container: JSONValue? =
            switch root.container {
            case .split: "split"
            case .tabs: "tabs"
            case nil: nil
            }
        return .object(members: members(of: root.instance) + [("container", container)])
    }

    private static func presentation(_ presentation: Presentation) -> JSONValue {
        .object(
            members: members(of: presentation.instance) + [
                ("style", .string(presentation.style.rawValue)),
                ("title", presentation.options.title.map { .string($0) }),
                ("message", presentation.options.message.map { .string($0) }),
                ("path", presentation.path.isEmpty ? nil : .array(presentation.path.map(screen))),
            ])
    }

    private static func message(_ input: Machine.Input) -> JSONValue {
        ["type": .string(input.type), "id": .string(input.id)]
    }

    /// The aspect that shows an effect, with its value. Nil if no aspect shows the effect.
    private static func trace(_ effect: Machine.Effect) -> (aspect: Scenario.Aspect, value: JSONValue)? {
        switch effect {
        case .openURL(let url): (.opened, .string(url))
        case .send(let type, let data): (.sent, sent(type, data))
        case .ask(let id, let type, let data, _, _): (.sent, sent(type, data, id: id))
        case .screenDismissed(let instance, let screen):
            (.dismissed, ["screen": .string(screen), "instance": .string(instance)])
        case .messageDiscarded(let id, let reason): (.discarded, ["message": .string(id), "reason": .string(reason)])
        case .failed(let failure):
            (.failed, ["code": .string(failure.code), "reason": .string(failure.description)])
        // Expired commands are in the aspect `discarded` already.
        case .applied, .began, .passed, .expectAnswer, .expectScreenGone, .commandExpired: nil
        }
    }

    private static func sent(_ type: String, _ data: JSONValue, id: String? = nil) -> JSONValue {
        .object(members: [
            ("type", .string(type)), ("id", id.map { .string($0) }), ("data", data == [:] ? nil : data),
        ])
    }
}

extension Scenario.Stated {
    /// True if the found value fulfils the expected one.
    func holds(for found: JSONValue) -> Bool { Self.holds(value, found) }

    private static func holds(_ expected: JSONValue, _ found: JSONValue) -> Bool {
        switch (expected, found) {
        case (.array(let expected), .array(let found)):
            expected.count == found.count && zip(expected, found).allSatisfy { holds($0, $1) }
        case (.string(let name), .object(let found)): isName(name, of: found) && found["path"] == nil
        case (.object(let expected), .object(let found)): holds(expected, found)
        default: expected == found
        }
    }

    /// Compares a screen or a message. Members that the scenario does not mention are ignored, except for a
    /// presentation's path.
    private static func holds(_ expected: [String: JSONValue], _ found: [String: JSONValue]) -> Bool {
        guard expected["screen"] != nil || expected["type"] != nil else {
            // A mapping without these members has lists by name.
            return expected.keys == found.keys && expected.allSatisfy { holds($1, found[$0] ?? []) }
        }
        guard found["path"] == nil || expected["path"] != nil else { return false }
        return expected.allSatisfy { name, value in
            switch name {
            case "screen", "type": value.stringValue.map { isName($0, of: found) } ?? false
            case "path": holds(value, found[name] ?? [])
            case "arguments", "data": value == found[name] ?? [:]
            default: value == found[name]
            }
        }
    }

    private static func isName(_ name: String, of found: [String: JSONValue]) -> Bool {
        // For a reason, a part of the sentence is enough.
        if let reason = found["reason"]?.stringValue, name.isEmpty || reason.contains(scalars: name) { return true }
        return ["screen", "instance", "type", "flow", "run", "code"].contains { found[$0]?.stringValue == name }
    }
}
