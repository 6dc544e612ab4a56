/// A scenario under way: it turns what happens into messages, hands them to a machine, and looks at what comes of them.
///
/// Messages are numbered: that of the third step is `m3`, so that equal scenarios lead to equal outcomes.
struct ScenarioRun {
    private var machine: Machine
    private var count = 0
    /// Milliseconds since the beginning: the scenario's clock stands still unless it says so.
    private var time = 0
    /// The last message of each type that an answer can name as its cause.
    private var causes: [String: String] = [:]

    init(of flow: Flow) {
        machine = Machine(flow: flow)
    }

    mutating func take(_ step: Scenario.Step) -> Scenario.Outcome {
        count += 1
        let before = ScenarioObservation(machine)
        let inputs: [Machine.Input]
        do {
            inputs = try self.inputs(of: step.act)
        } catch {
            let failure = Scenario.Failure(
                position: step.position, aspect: nil, message: error.message, expected: nil, found: nil)
            return Scenario.Outcome(number: count, step: step, messages: [], changes: [:], failures: [failure])
        }
        let effects = inputs.flatMap { machine.handle($0) }
        for input in inputs { causes[input.type] = input.id }
        for case .ask(let id, let type, _, _, _) in effects { causes[type] = id }
        let after = ScenarioObservation(machine, effects)
        return Scenario.Outcome(
            number: count,
            step: step,
            messages: inputs,
            changes: after.changes(from: before),
            failures: step.expectation.map { failures(of: $0, before, after) } ?? []
        )
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
            } else if !aspect.isDerived, after.differs(from: before, in: aspect) {
                failures.append(
                    Scenario.Failure(
                        position: expectation.position,
                        aspect: aspect,
                        message: "nothing was expected of '\(aspect.rawValue)'",
                        expected: aspect.isEffect ? nil : before[aspect],
                        found: after[aspect]
                    ))
            }
        }
        if after.differsOtherwise(from: before) {
            failures.append(
                Scenario.Failure(
                    position: expectation.position,
                    aspect: nil,
                    message: "something of the state has changed that scenarios have no word for",
                    expected: nil,
                    found: nil
                ))
        }
        return failures
    }

    // MARK: What happens, as messages

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
            guard let attempt = machine.state.attempt else { throw Impossible(message: "no guard waits for an answer") }
            let data: JSONValue = ["attempt": .string(attempt.id)]
            return [input(Machine.deadlinePassed, data, platform: machine.flow.platform)]
        }
    }

    private mutating func input(_ message: Scenario.Message) throws(Impossible) -> Machine.Input {
        let sender = try message.from.map { name throws(Impossible) in
            try instance(name, among: machine.state.standing, "stands")
        }
        if let at = message.at { time = at.milliseconds }
        var input = input(message.type, message.data, platform: message.platform)
        if sender != nil, message.platform == nil { input.attributes.platform = machine.flow.platform }
        input.attributes.instance = sender
        input.attributes.causationID = message.causedBy.map { causes[$0] ?? $0 }
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

    /// The instance that a scenario means: the frontmost of a screen, or the one that it names, wherever that is.
    private func instance(
        _ name: String?,
        among candidates: [ScreenInstance],
        _ what: String
    ) throws(Impossible) -> String {
        if let name, machine.flow.screens[name] == nil { return name }
        if let found = candidates.last(where: { name == nil || $0.screen == name }) { return found.id }
        let others = candidates.isEmpty ? "nothing does" : "these do: \(candidates.map(\.id).joined(separator: ", "))"
        throw Impossible(message: name.map { "no instance of '\($0)' \(what); \(others)" } ?? "nothing \(what)")
    }
}
