// What a view's report changes.
//
// A report is idempotent by the instance that it names. When that instance no longer stands,
// - the repetition of the report that took it away changes nothing and is not worth a word: a view that reconnects,
//   and a second device that shows the session, repeat themselves as a matter of course;
// - a back or a dismissal of what the program has just dismissed changes nothing either: both wanted the same, and the
//   instance stays `leaving` until the view says that it is gone;
// - anything else comes too late, and is discarded visibly: above all an answer to an alert that was dismissed.
extension Machine {
    mutating func handle(_ report: ViewReport, _ input: Input) -> [Effect] {
        if report == .screenDisplayed { return screenDisplayed(input) }
        guard let instance = input.data["instance"]?.stringValue ?? input.attributes.instance else {
            return [input.discarded("the field 'instance' is missing")]
        }
        if report == .screenGone { return screenGone(instance, input) }
        guard state.isStanding(instance) else { return late(report, instance, input) }
        return switch report {
        case .backStarted, .backCancelled, .backCompleted: back(report, instance, input)
        case .presentationDismissed: presentationDismissed(instance, input)
        case .alertAnswered: alertAnswered(instance, input)
        case .tabSelected: tabSelected(instance, input)
        case .screenDisplayed, .screenGone: []
        }
    }

    private func late(_ report: ViewReport, _ instance: String, _ input: Input) -> [Effect] {
        if memory.departures.contains(input.departure(of: instance)) { return [] }
        let isLeaving = state.leaving.contains { $0.id == instance }
        if isLeaving, report == .backCompleted || report == .presentationDismissed { return [] }
        return [input.discarded("no screen instance '\(instance)' stands")]
    }

    /// A view may lag behind, but it cannot be ahead of the state.
    private func screenDisplayed(_ input: Input) -> [Effect] {
        guard let displayed = input.data["revision"]?.integerValue else {
            return [input.discarded("the field 'revision' is missing")]
        }
        return displayed <= revision ? [] : [input.discarded("there is no revision \(displayed) yet")]
    }

    /// Views send this for everything that disappears, also for what they have reported as dismissed before.
    private mutating func screenGone(_ instance: String, _ input: Input) -> [Effect] {
        guard state.leaving.contains(where: { $0.id == instance }) else {
            if memory.knows(instance) { return [] }
            let reason =
                state.isStanding(instance)
                ? "screen instance '\(instance)' still stands" : "no screen instance '\(instance)' is leaving"
            return [input.discarded(reason)]
        }
        var step = step(for: input)
        step.forget(instance)
        return commit(step)
    }

    /// Only a completed back changes anything: one that is under way may still be cancelled.
    private mutating func back(_ report: ViewReport, _ instance: String, _ input: Input) -> [Effect] {
        var step = step(for: input)
        guard step.takeBack(to: instance) else {
            return [input.discarded("screen instance '\(instance)' is on no path")]
        }
        return report == .backCompleted ? commit(step) : []
    }

    private mutating func presentationDismissed(_ instance: String, _ input: Input) -> [Effect] {
        guard let index = state.presentations.firstIndex(where: { $0.instance.id == instance }) else {
            return [input.discarded("screen instance '\(instance)' is not presented")]
        }
        // The state stays: the view that follows it shows the presentation again.
        guard state.presentations[index].isInteractivelyDismissable else {
            return [input.discarded("screen instance '\(instance)' cannot be dismissed by its user")]
        }
        var step = step(for: input)
        step.takeAwayPresentations(from: index)
        return commit(step)
    }

    private mutating func alertAnswered(_ instance: String, _ input: Input) -> [Effect] {
        let question = state.presentations.firstIndex { $0.instance.id == instance && $0.style.isQuestion }
        guard let index = question else {
            return [input.discarded("screen instance '\(instance)' is no alert")]
        }
        let style = state.presentations[index].style
        let buttons = state.presentations[index].options.buttons ?? []
        let id = input.data["button"]?.stringValue
        guard let button = buttons.first(where: { $0.id == id }) else {
            let known = buttons.map(\.id).joined(separator: ", ")
            return [input.discarded("the \(style) has no button '\(id ?? "")', its buttons are \(known)")]
        }
        var step = step(for: input)
        step.takeAwayPresentations(from: index)
        if let command = button.sends { step.effects.append(.send(type: command, data: .object([:]))) }
        return commit(step)
    }

    private mutating func tabSelected(_ instance: String, _ input: Input) -> [Effect] {
        let tab = input.data["tab"]?.stringValue ?? ""
        var step = step(for: input)
        guard instance == state.root.instance.id, (try? step.selectTab(tab)) != nil else {
            return [input.discarded("screen instance '\(instance)' has no tab '\(tab)'")]
        }
        return commit(step)
    }
}

extension Machine.Input {
    /// What this report leaves behind when it takes an instance away, and what its repetition is known by.
    func departure(of instance: String) -> NavigationMemory.Departure {
        let button = type == ViewReport.alertAnswered.rawValue ? data["button"]?.stringValue : nil
        return NavigationMemory.Departure(instance: instance, report: type, button: button)
    }
}
