internal import Navigation
internal import Support

/// How a session gets into a state: what happens, from the beginning, in the form of a scenario.
package struct Story: Sendable {
    /// A step, and the states of the platforms after it; those before it if it changed nothing.
    struct Chapter: Sendable {
        let occurrence: Occurrence
        let states: [NavigationState]
    }

    let chapters: [Chapter]

    /// The steps of a scenario, one on each line.
    package var steps: [String] { chapters.map { "- \($0.occurrence.step)" } }
}

extension Occurrence {
    /// The step of a scenario, as YAML on one line.
    fileprivate var step: String {
        switch ViewReport(rawValue: input.type) {
        case .backCompleted: return "back: \(screen ?? "")"
        case .presentationDismissed: return "dismiss: \(screen ?? "")"
        case .alertAnswered: return "answer: \(text(input.data["button"]))"
        case .tabSelected: return "tab: \(text(input.data["tab"]))"
        default: break
        }
        if kind == .time { return "expire" }
        var members = ["type: \(input.type)"]
        if input.data != [:] { members.append("data: \(input.data)") }
        if let screen { members.append("from: \(screen)") }
        if screen == nil, kind == .entrance, let platform = input.attributes.platform {
            members.append("platform: \(platform)")
        }
        if let causedBy { members.append("causedBy: \(causedBy)") }
        return members.count == 1 ? "send: \(input.type)" : "send: { \(members.joined(separator: ", ")) }"
    }

    private func text(_ value: JSONValue?) -> String { value?.stringValue ?? "" }
}
