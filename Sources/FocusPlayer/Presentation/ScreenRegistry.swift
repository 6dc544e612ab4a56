internal import EventBus

/// The screens of the focus player: a new one is an entry here and a view model.
package enum ScreenRegistry {
    /// The name of the flows whose screens these are, on every platform. Another app's may have screens of the same names.
    package static let flow = "focus-player"

    /// By the name that the flows use.
    package static let screens: [String: any ViewModel.Type] = [
        "launch": LaunchViewModel.self,
        "serviceSelection": ServiceSelectionViewModel.self,
        "playlistSelection": PlaylistSelectionViewModel.self,
        "generatedPlaylist": GeneratedPlaylistViewModel.self,
        "deviceActivation": DeviceActivationViewModel.self,
        "premiumRequired": PremiumRequiredViewModel.self,
    ]

    /// What shows a screen of the flow with this name; nil if nobody has written that.
    package static func viewModel(of screen: String, in flow: String) -> (any ViewModel.Type)? {
        flow == Self.flow ? screens[screen] : nil
    }

    /// What a screen shows now, under the banner if there is one.
    /// - Parameters:
    ///   - screen: a name in the flow. One without a view model is shown by its name, with nothing to do on it.
    ///   - flow: the name of the flow that it is a screen of.
    ///   - commands: the types that the flow lets the screen send; nil for all.
    package static func content(
        of screen: String, in flow: String = flow, arguments: [String: String] = [:], documents: LatestDocuments,
        commands: Set<String>? = nil
    ) -> ScreenContent {
        let model = viewModel(of: screen, in: flow)?.init(documents: documents, arguments: arguments)
        var content = model?.content ?? ScreenContent(title: screen, rows: ["There is nothing to show here."])
        if let commands {
            content.actions.removeAll { !commands.contains($0.type.description) }
        }
        content.banner = Banner(documents.errorBanner)
        return content
    }
}
