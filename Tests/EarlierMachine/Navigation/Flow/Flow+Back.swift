extension Flow {
    /// The ids of the pushed instances from which the user cannot go back: of screens with `back: false`, and of those
    /// beneath them on the same path.
    func instancesWithoutBack(in state: NavigationState) -> [String] {
        state.paths.flatMap { scope in
            let path = state[scope]
            let count = path.lastIndex { screensWithoutBack.contains($0.screen) }.map { $0 + 1 } ?? 0
            return path.prefix(count).map(\.id)
        }
    }

    /// True if the user cannot go back from an instance.
    func forbidsBack(from instance: String, in state: NavigationState) -> Bool {
        !screensWithoutBack.isEmpty && instancesWithoutBack(in: state).contains(instance)
    }
}
