internal import Contracts
internal import Device
internal import EventBus
internal import Navigation
internal import Support

/// A scene as JSON, as the devices of the page read it.
struct SceneText: Sendable {
    let scene: [UInt8]
    let banner: [UInt8]
    /// The contents of the open screens, by the ids of their instances.
    let contents: [(instance: String, content: [UInt8])]
    /// The ids of the screens that are open or still leave.
    let openOrLeaving: Set<String>
    /// True if the device was requested to open a URL.
    let hasURL: Bool

    /// - Throws: `EncodingError` if the state cannot be encoded.
    init(_ session: DeviceSession, _ scene: Scene) throws {
        let screens = scene.screens
        let snapshot = scene.snapshot
        let flow = snapshot.flow
        let members: [(String, JSONValue?)] = [
            ("platform", .string(snapshot.platform)), ("session", .string(snapshot.session)),
            (
                "flow",
                ["name": .string(flow.name), "version": .integer(flow.version), "hash": .string(flow.hash)]
            ),
            ("revision", .integer(snapshot.revision)), ("cause", Self.text(snapshot.cause)),
            ("rule", Self.text(snapshot.rule)), ("state", try JSONValue(encoding: snapshot.state)),
            ("front", .array(scene.active.map { .string($0.id) })),
            ("waiting", Self.text(scene.waiting.isEmpty ? nil : scene.waiting.joined(separator: ", "))),
            ("back", .object(Dictionary(Self.leavable(scene).map { ($0, true) }) { $1 })),
            ("dismissible", .array(scene.dismissible.map(JSONValue.string))),
            ("screenTitles", .object(Self.titles(screens, snapshot.state))),
        ]
        self.scene = Array(JSONValue.object(members: members).description.utf8)
        banner = Array(Self.banner(scene).description.utf8)
        contents = screens.map { layer in
            (layer.instance, Array(Self.content(of: layer, session).description.utf8))
        }
        openOrLeaving = Set(screens.map(\.instance) + snapshot.state.leaving.map(\.id))
        hasURL = scene.requestedURL != nil
    }

    private static func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }

    /// The screens in front from which a person can go back, by their ids.
    private static func leavable(_ scene: Scene) -> [String] {
        let state = scene.snapshot.state
        let paths =
            [state.path] + (state.root.container?.shownStacks.map(\.path) ?? []) + state.presentations.map(\.path)
        return paths.compactMap(\.last).filter(scene.active.contains).map(\.id)
            .filter { !scene.snapshot.withoutBack.contains($0) }
    }

    /// The titles of the open screens and of the tabs, by their names.
    private static func titles(_ screens: [Layer], _ state: NavigationState) -> [String: JSONValue] {
        let contents = Dictionary(screens.map { ($0.instance, $0.content.title) }) { $1 }
        var titles: [String: JSONValue] = [:]
        for instance in state.open { titles[instance.screen] = contents[instance.id].map(JSONValue.string) }
        if case .tabs(let tabs, _)? = state.root.container {
            for tab in tabs { titles[tab.name] = contents[tab.stack.instance.id].map(JSONValue.string) }
        }
        return titles
    }

    private static func banner(_ scene: Scene) -> JSONValue {
        guard let banner = scene.banner else { return .null }
        return [
            "severity": .string(banner.severity.rawValue), "message": .string(banner.message),
            "recovery": text(banner.recovery), "waiting": .integer(banner.waiting),
            "choice": text(scene.bannerDismissal?.id),
        ]
    }

    private static func progress(_ progress: ScreenContent.Progress) -> JSONValue {
        [
            "position": .integer(progress.position), "duration": progress.duration.map(JSONValue.integer) ?? .null,
            "measuredAt": .integer(progress.measuredAt), "running": .bool(progress.isRunning),
        ]
    }

    private static func content(of layer: Layer, _ session: DeviceSession) -> JSONValue {
        var choices = layer.choices[...]
        let sections = layer.content.sections.map { section -> JSONValue in
            let rows = section.rows.map { row -> JSONValue in
                // The choices of the rows come first, in the order of the rows.
                let type = row.command.map { Swift.type(of: $0).type }
                let choice = type != nil && choices.first?.type == type ? choices.popFirst() : nil
                return [
                    "title": .string(row.title), "subtitle": text(row.subtitle), "detail": text(row.detail),
                    "progress": row.progress.map(progress) ?? .null, "depth": .integer(row.depth),
                    "selectable": .bool(row.isSelectable), "choice": text(choice?.id),
                ]
            }
            return [
                "header": text(section.header), "footer": text(section.footer), "numbered": .bool(section.isNumbered),
                "rows": .array(rows),
            ]
        }
        // An action of a covered screen has no choice. The page shows it, but it cannot be used.
        let actions = (choices + layer.coveredChoices).map { choice -> JSONValue in
            [
                "choice": layer.isCovered ? .null : .string(choice.id), "label": .string(choice.label),
                "role": .string(choice.role.rawValue), "type": .string(choice.type.description),
                "schema": choice.takesFields ? session.schema(of: choice.type)?.json ?? .null : .null,
            ]
        }
        return [
            "title": .string(layer.content.title), "loading": .bool(layer.content.isLoading),
            "sections": .array(sections), "actions": .array(actions),
        ]
    }
}
