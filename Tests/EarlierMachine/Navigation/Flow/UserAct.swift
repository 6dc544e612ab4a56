internal import Support

extension Flow {
    /// An act of the user that a view has reported and that has changed the screens, or a tap on the selected tab.
    /// Rules match it like a message type; no such message is published.
    package enum UserAct: String, Hashable, Sendable, CaseIterable {
        /// The user has gone back. `data` holds `screen` and `instance` of the lowest screen that was left.
        case wentBack = "user.wentBack"
        /// The user has dismissed a presentation. `data` holds `screen` and `instance` of the presented screen.
        case dismissed = "user.dismissed"
        /// The user has selected another tab. `data` holds `tab` and `former`, the tab that was selected before.
        case selectedTab = "user.selectedTab"
        /// The user has tapped the selected tab. `data` holds `tab` and `former`, which are equal.
        case tappedTab = "user.tappedTab"

        /// The fields of `data`.
        package var fields: [String] {
            switch self {
            case .wentBack, .dismissed: ["screen", "instance"]
            case .selectedTab, .tappedTab: ["tab", "former"]
            }
        }
    }

    /// True if rules on the type answer something that is not published as a message: the end of a child flow or an act
    /// of the user.
    package static func isUnpublished(_ type: String) -> Bool {
        Ending(rawValue: type) != nil || UserAct(rawValue: type) != nil
    }
}

extension FlowChecker {
    /// Checks a rule on an act of the user: the screens and tabs that it names must exist, and it cannot have a guard.
    mutating func check(_ act: Flow.UserAct, of rule: Flow.Transition, at keyPath: String) {
        for (field, match) in rule.fields.sorted(by: { $0.key < $1.key }) {
            let keyPath = "\(keyPath).where.\(field)"
            guard act.fields.contains(field) else {
                let advice = Spelling.advice(for: field, among: act.fields)
                report("'\(act.rawValue)' has no field '\(field)'; \(advice)", at: keyPath)
                continue
            }
            for name in (match.anyOf ?? []).compactMap(\.stringValue) {
                switch field {
                case "screen": checkScreen(name, at: keyPath)
                case "tab", "former": checkTab(name, at: keyPath)
                default: break
                }
            }
        }
        if rule.guard != nil {
            report("a rule on '\(act.rawValue)' cannot have a guard, because the act is done; remove it", at: keyPath)
        }
    }
}
