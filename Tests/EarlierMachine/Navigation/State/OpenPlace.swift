internal import Support

/// The place of an open instance: a path, and the number of screens on it up to the instance. With depth 0 the instance
/// lies beneath the path.
struct OpenPlace: Hashable, Sendable {
    let scope: NavigationState.PathScope
    let depth: Int
}

extension ScreenInstance {
    /// True if it is an instance of the screen with these arguments and no others.
    func shows(_ screen: String, _ arguments: [String: JSONValue]) -> Bool {
        self.screen == screen && self.arguments.count == arguments.count
            && arguments.allSatisfy { name, value in self.arguments[name]?.isSameArgument(as: value) ?? false }
    }
}

extension NavigationState {
    /// The places of the screen's instances with exactly these arguments, in the window of a path, from the front: on
    /// this path and the paths beneath it, then the first screens of the columns and of the other tabs.
    func places(of screen: String, _ arguments: [String: JSONValue], from front: PathScope) -> [OpenPlace] {
        let window = presentations(inWindowOf: front)
        var scopes: [PathScope] = []
        var isMain = true
        if case .presentation(let index) = front {
            scopes = (window.lowerBound...index).reversed().map { .presentation($0) }
            isMain = presentations[window.lowerBound].style != .window
        } else if front != bottomScope {
            scopes = [front]
        }
        if isMain { scopes.append(bottomScope) }
        var places: [OpenPlace] = []
        for scope in scopes {
            let stack = [base(of: scope)] + self[scope]
            for (depth, instance) in stack.enumerated().reversed() where instance?.shows(screen, arguments) == true {
                places.append(OpenPlace(scope: scope, depth: depth))
            }
        }
        for scope in paths where isMain && !scopes.contains(scope) {
            guard base(of: scope)?.shows(screen, arguments) == true else { continue }
            if case .presentation = scope { continue }
            // The root has no path of its own while it has tabs. Coming back to it keeps the selected tab.
            let isBeneathTabs = scope == .root
            places.append(
                isBeneathTabs
                    ? OpenPlace(scope: bottomScope, depth: self[bottomScope].count) : OpenPlace(scope: scope, depth: 0))
        }
        return places
    }

    /// The instances that are dismissed in order to come back to a place.
    func instances(above place: OpenPlace) -> [ScreenInstance] {
        let isBottom = if case .presentation = place.scope { false } else { true }
        let range = isBottom ? presentations(over: bottomScope) : presentations(over: place.scope)
        return self[place.scope].dropFirst(place.depth) + presentations[range].flatMap(\.instances)
    }
}
