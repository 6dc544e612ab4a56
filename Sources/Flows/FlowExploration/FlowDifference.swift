internal import Navigation
internal import Support

/// A step that a flow allows: what can happen on a screen, and what the user sees then.
package struct FlowStep: Hashable, Sendable {
    /// The screen in front.
    package let screen: String
    /// What happens, such as `command.Pay` or `back`.
    package let cause: String
    /// The screen in front afterwards.
    package let next: String
    /// What the flow tells others, in words, sorted.
    package let tells: [String]
}

/// What is different for a user between two flows.
package struct FlowDifference {
    /// What happens on a screen because of one cause, where the flows differ.
    package struct Change {
        package let screen: String
        package let cause: String
        /// What the first flow does, as words. Empty if it does nothing.
        package let before: [String]
        package let after: [String]
    }

    package let newScreens: [String]
    package let goneScreens: [String]
    /// Sorted by screen and cause.
    package let changes: [Change]

    /// - Parameters:
    ///   - old: What an exploration has reached of one flow.
    ///   - new: What it has reached of the other one.
    package init(from old: FlowCoverage, to new: FlowCoverage) {
        newScreens = new.reachedScreens.subtracting(old.reachedScreens).sorted()
        goneScreens = old.reachedScreens.subtracting(new.reachedScreens).sorted()
        let (before, after) = (Self.results(of: old.steps), Self.results(of: new.steps))
        let places = Set(before.keys).union(after.keys).sorted { ($0.screen, $0.cause) < ($1.screen, $1.cause) }
        changes = places.compactMap { place in
            let (former, now) = (before[place] ?? [], after[place] ?? [])
            return former == now
                ? nil : Change(screen: place.screen, cause: place.cause, before: former.sorted(), after: now.sorted())
        }
    }

    package var isEmpty: Bool { newScreens.isEmpty && goneScreens.isEmpty && changes.isEmpty }

    private struct Place: Hashable {
        let screen: String
        let cause: String
    }

    private static func results(of steps: Set<FlowStep>) -> [Place: Set<String>] {
        steps.reduce(into: [:]) { results, step in
            results[Place(screen: step.screen, cause: step.cause), default: []].insert(step.words)
        }
    }

    /// The differences in words, one on each line.
    package var lines: [String] {
        goneScreens.map { "screen '\($0)' is not reached any more" } + newScreens.map { "screen '\($0)' is new" }
            + changes.map(\.line)
    }

    /// The differences as Markdown, with a graph of the changed steps.
    package var markdown: String {
        if isEmpty { return "Nothing changes for users.\n" }
        let names = Set(changes.map(\.screen)).sorted()
        let nodes = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($0.element, "s\($0.offset)") })
        let screens = names.map { "    state \(Self.label($0)) as \(nodes[$0] ?? "")" }
        let notes = changes.map { change in
            "    \(nodes[change.screen] ?? "") : \(Self.text(change.cause)): \(Self.text(change.result))"
        }
        let list = lines.map { "- \(Self.text($0))\n" }.joined()
        let graph =
            changes.isEmpty ? "" : "\n```mermaid\nstateDiagram-v2\n\((screens + notes).joined(separator: "\n"))\n```\n"
        return list + graph
    }

    /// Text without characters that mean something in Markdown or in a graph of Mermaid.
    private static func text(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { "`*_<>[]|#;\n\r\"{}".unicodeScalars.contains($0) ? " " : $0 }))
    }

    private static func label(_ name: String) -> String { "\"\(text(name))\"" }
}

extension FlowDifference.Change {
    /// What happens now, and what happened before.
    fileprivate var result: String {
        let (before, after) = (before.joined(separator: " or "), after.joined(separator: " or "))
        if after.isEmpty { return "does nothing any more; before: \(before)" }
        return before.isEmpty ? "is new: \(after)" : "\(after); before: \(before)"
    }

    fileprivate var line: String {
        "on '\(screen)', \(cause) \(before.isEmpty || after.isEmpty ? "" : "leads to ")\(result)"
    }
}

extension FlowStep {
    /// What the step leads to, in words.
    fileprivate var words: String {
        let stays = next == screen ? "'\(next)' stays" : "'\(next)'"
        return tells.isEmpty ? stays : "\(stays) (\(tells.joined(separator: ", ")))"
    }
}

extension Occurrence {
    /// What happens, as in a scenario.
    var cause: String {
        kind == .link ? "URL \(input.data["url"]?.stringValue ?? "")" : kind == .time ? "a deadline" : input.cause
    }
}

extension Machine.Input {
    /// What happens, as in a scenario. URLs are not named.
    var cause: String {
        switch ViewReport(rawValue: type) {
        case .backCompleted: "back"
        case .presentationDismissed: "dismiss"
        case .alertAnswered: "button '\(data["button"]?.stringValue ?? "")'"
        case .tabSelected: "tab '\(data["tab"]?.stringValue ?? "")'"
        default: type == Machine.deadlinePassed ? "a deadline" : type == Machine.deepLinkReceived ? "a URL" : type
        }
    }
}
