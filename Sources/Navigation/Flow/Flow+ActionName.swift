extension Flow {
    /// The kinds of actions, as a flow's file names them.
    public enum ActionName: String, Hashable, Sendable, CaseIterable {
        case setRoot
        case push
        case pop
        case popToRoot
        case replacePath
        case present
        case dismiss
        case dismissAll
        case selectTab
        case show
        case openURL
        case send
        case finish
        case abandon
    }
}

extension Flow.Action {
    /// Which kind of action this is.
    public var name: Flow.ActionName {
        switch self {
        case .setRoot: .setRoot
        case .push, .pushFlow: .push
        case .pop: .pop
        case .popToRoot: .popToRoot
        case .replacePath: .replacePath
        case .present, .presentFlow: .present
        case .dismiss: .dismiss
        case .dismissAll: .dismissAll
        case .selectTab: .selectTab
        case .show: .show
        case .openURL: .openURL
        case .send: .send
        case .finish: .finish
        case .abandon: .abandon
        }
    }
}
