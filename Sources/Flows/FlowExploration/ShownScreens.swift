internal import Navigation
internal import Support

/// The screens of a state with their arguments and their places. Instances, titles and the sizes of sheets do not count:
/// two states with the same screens are the same for a user.
struct ShownScreens: Hashable {
    private let layers: [Layer]

    /// A stack of screens, from the bottom up.
    private struct Layer: Hashable {
        /// What the stack is: `tab`, `sheet`. Empty for the root's.
        let kind: String
        /// The name of the tab or the column. Empty for others.
        let name: String
        let screens: [Screen]
    }

    private struct Screen: Hashable {
        let name: String
        let arguments: [String: JSONValue]

        init(_ instance: ScreenInstance) {
            (name, arguments) = (instance.screen, instance.arguments)
        }
    }

    init(of state: NavigationState) {
        func layer(_ kind: String, _ name: String, _ instances: [ScreenInstance]) -> Layer {
            Layer(kind: kind, name: name, screens: instances.map(Screen.init))
        }
        let beside: [Layer] =
            switch state.root.container {
            case .split(let columns):
                columns.sorted { $0.key < $1.key }.map { layer("column", $0.key, $0.value.instances) }
            case .tabs(let tabs, let selected):
                tabs.map { layer($0.name == selected ? "selected tab" : "tab", $0.name, $0.stack.instances) }
            case nil: []
            }
        layers =
            [layer("", "", [state.root.instance] + state.path)] + beside
            + state.presentations.map { layer($0.style.rawValue, "", $0.instances) }
    }
}

extension ShownScreens {
    /// The names of the screens, without arguments: `list › item, sheet player`.
    var names: String { text { $0.name } }

    private func text(_ word: (Screen) -> String) -> String {
        layers.map { layer in
            ([layer.kind, layer.name].filter { !$0.isEmpty } + [layer.screens.map(word).joined(separator: " › ")])
                .joined(separator: " ")
        }.joined(separator: ", ")
    }
}

extension ShownScreens: CustomStringConvertible {
    /// The screens with their arguments: `list › item {id: 7}`.
    var description: String {
        text { $0.arguments.isEmpty ? $0.name : "\($0.name) \(JSONValue.object($0.arguments).summary)" }
    }
}
