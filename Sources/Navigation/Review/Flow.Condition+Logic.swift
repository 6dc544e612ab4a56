extension Flow.Condition {
    /// Whether `other` holds wherever this does.
    func implies(_ other: Flow.Condition) -> Bool {
        // What is in front can be seen.
        guard place == other.place || (place == .top && other.place == .shown) else { return false }
        if screens.isEmpty { return other.screens.isEmpty }
        return screens.allSatisfy { screen in other.screens.contains { screen.isCovered(by: $0) } }
    }

    /// Whether `other` holds nowhere where this does.
    func excludes(_ other: Flow.Condition) -> Bool {
        guard place == other.place else { return false }
        if screens.isEmpty || other.screens.isEmpty { return screens.isEmpty != other.screens.isEmpty }
        // Of the others there may be several at once.
        guard [.root, .top, .tab].contains(place) else { return false }
        return Set(screens.map(\.screen)).isDisjoint(with: other.screens.map(\.screen))
    }

    /// What holds where both hold, by the screens that they have in common; nil when that is none.
    func overlap(with other: Flow.Condition) -> Flow.Condition? {
        if screens.isEmpty && other.screens.isEmpty { return self }
        let common =
            screens.filter { screen in other.screens.contains { screen.isCovered(by: $0) } }
            + other.screens.filter { screen in
                !screens.contains(screen) && screens.contains { screen.isCovered(by: $0) }
            }
        return common.isEmpty ? nil : Flow.Condition(place, common)
    }
}

extension Flow.Destination {
    fileprivate func isCovered(by other: Flow.Destination) -> Bool {
        screen == other.screen && other.arguments.allSatisfy { arguments[$0.key] == $0.value }
    }
}
