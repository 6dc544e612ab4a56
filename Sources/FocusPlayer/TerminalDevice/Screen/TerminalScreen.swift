package import Navigation
package import Presentation

/// What a terminal shows of one platform, and what may be done there. A value: equal documents give equal screens.
package struct TerminalScreen: Sendable {
    package let platform: String
    package let revision: Int
    let layers: [Layer]
    let banner: Banner?
    /// What may be done, as it is numbered on the screen, beginning with 1.
    package let choices: [Choice]
    package let back: Choice?
    package let dismissal: Choice?
    package let bannerDismissal: Choice?
    /// The screens that a person can act on.
    package let active: [ScreenInstance]
    /// Whether a list is still to come, so that its numbers would mean something else in a moment.
    package let isLoading: Bool

    /// What this device was asked to open last, if a person may still want to.
    private let requestedURL: OpenableURL?
    /// The type of the command that waits for an answer before the flow goes on.
    let waiting: String?

    package init(_ snapshot: NavigationSnapshot, documents: LatestDocuments) {
        self.init(Scene(snapshot: snapshot, documents: documents))
    }

    init(_ scene: Scene) {
        let snapshot = scene.snapshot
        let documents = scene.documents
        platform = snapshot.platform
        revision = snapshot.revision
        layers = scene.layers
        banner = Banner(documents.errorBanner)
        choices = layers.flatMap(\.choices) + scene.tabs
        back = scene.back
        dismissal = scene.dismissal
        bannerDismissal = banner.map {
            Choice($0.dismissal, on: snapshot.state.top.id, outcome: .closedBanner)
        }
        active = snapshot.state.active
        requestedURL = scene.requestedURL
        waiting = snapshot.state.attempt?.message.type
        isLoading = layers.contains { !$0.isCovered && $0.content.isLoading }
    }

    /// What an answer picks here; nil if it is not here.
    /// - Throws: ``TypedFields/Mistake`` if it gives its command fields that cannot be read.
    func pick(_ answer: Answer) throws(TypedFields.Mistake) -> Choice? {
        guard case .text(let line) = answer else { return choice(for: answer) }
        return try choice(for: answer)?.filled(from: line)
    }

    /// What an answer names here; nil if it is not here.
    package func choice(for answer: Answer) -> Choice? {
        switch answer {
        case .number(let number): choices.indices.contains(number - 1) ? choices[number - 1] : nil
        case .text(let line):
            // The first of those that fit best.
            choices.compactMap { choice in choice.distance(to: line).map { (choice, $0) } }.min { $0.1 < $1.1 }?.0
        case .back: back
        case .dismiss: dismissal
        case .dismissError: bannerDismissal
        case .nothing, .quit, .screen, .openURL: nil
        }
    }

    /// What a person would open: the URL that this device was asked to open, or else the last one on the screen.
    var url: OpenableURL? {
        if let requestedURL { return requestedURL }
        let texts = layers.filter { !$0.isCovered }.flatMap { layer in
            [layer.content.title] + layer.content.rows + layer.choices.map(\.label)
        }
        let banners = [banner?.message, banner?.recovery].compactMap(\.self)
        return (banners + texts).reversed().lazy.compactMap { OpenableURL.found(in: $0).last?.url }.first
    }
}
