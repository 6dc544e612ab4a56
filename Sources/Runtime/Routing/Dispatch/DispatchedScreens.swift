public import Navigation

/// The screens that show dispatched data, and their view models.
public struct DispatchedScreens: Sendable {
    private let viewModels: [String: any DispatchedViewModel.Type]

    /// - Parameter types: of several that share a screen, the first says what its view model is.
    public init(_ types: any Dispatchable.Type...) {
        let pairs = types.map { ($0.change.screen, $0.change.viewModel) }
        viewModels = Dictionary(pairs) { first, _ in first }
    }

    /// The view model of a screen that is shown; nil if the screen shows no dispatched data.
    /// - Throws: what the view model throws about its arguments.
    public func viewModel(
        for screen: ScreenInstance, dispatching: any Dispatching
    ) throws -> (any DispatchedViewModel)? {
        try viewModels[screen.screen]?.init(screen: screen, dispatching: dispatching)
    }
}
