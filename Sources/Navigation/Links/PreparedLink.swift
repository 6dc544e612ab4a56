internal import Support

/// A deep link in the form in which machines follow it: with parsed arguments.
final class PreparedLink: Sendable {
    let link: Flow.Link
    /// The index among the flow's links.
    let index: Int
    /// The screens to which the link leads. Nil if it opens none.
    let to: LinkTarget?
    let otherwise: LinkTarget?
    /// The commands that the link sends.
    let sends: [Sending]
    /// The declared arguments and fields that get values of the link's URL. Empty for a flow that declares none.
    let uses: [LinkUse]
    /// The root screens that the target `to` may lie on. Empty if it has a root, or may lie on any root.
    private let roots: [String]

    struct Sending {
        let type: String
        let data: [String: LinkArgument]
    }

    /// - Parameter uses: The declared arguments and fields that get values of the link's URL.
    init(_ link: Flow.Link, index: Int, uses: [LinkUse] = []) {
        self.link = link
        self.index = index
        to = link.to.map(LinkTarget.init)
        otherwise = link.otherwise.map(LinkTarget.init)
        sends = link.sends.map { Sending(type: $0.type, data: $0.data.mapValues(LinkArgument.init)) }
        self.uses = uses
        roots = link.to?.root == nil ? link.roots : []
    }

    /// Arguments or data, filled in with the values of a URL. A member is left out if the URL has no value for it.
    func filled(_ members: [String: LinkArgument], from values: [String: JSONValue]) -> [String: JSONValue] {
        members.compactMapValues { value(of: $0, from: values) }
    }

    /// The value of an argument or a field for the values of a URL. Nil if the URL has none for it.
    private func value(of argument: LinkArgument, from values: [String: JSONValue]) -> JSONValue? {
        switch argument {
        case .constant(let value): value
        case .placeholder(let name, let fallback):
            values[name].flatMap { fallback != nil && $0 == "" ? nil : $0 }
                ?? fallback.flatMap { link.pattern?.type(of: name)?.value(of: $0) }
        case .unreadable: nil
        }
    }

    /// True if the instance is one of the screen, with exactly the arguments that a new instance would get for these
    /// values, and belongs to no run of a child flow.
    func isFilled(_ instance: ScreenInstance, as screen: LinkScreen, from values: [String: JSONValue]) -> Bool {
        guard instance.screen == screen.name, instance.run == nil else { return false }
        var count = 0
        for (name, argument) in screen.arguments {
            guard let wanted = value(of: argument, from: values) else { continue }
            guard instance.arguments[name]?.isSameArgument(as: wanted) == true else { return false }
            count += 1
        }
        return count == instance.arguments.count
    }

    /// True if the screens of a target are open, with the arguments for these values.
    func isOpen(_ target: LinkTarget, with values: [String: JSONValue], in state: NavigationState) -> Bool {
        target.fits(state) { isFilled($1, as: $0, from: values) }
    }

    /// The values of this link's URL for a state. Nil if no URL of this link leads to the state.
    func values(of state: NavigationState) -> [String: JSONValue]? {
        guard let to, let pattern = link.pattern, isOn(state.root.instance.screen) else { return nil }
        var values: [String: JSONValue] = [:]
        let isPossible = to.fits(state) { $0.name == $1.screen && $0.give(&values, of: $1, pattern) }
        // If one screen has a query value and another lacks it, no URL leads to this state.
        return isPossible && isOpen(to, with: values, in: state) ? values : nil
    }

    /// True if the link's `to` may lie on this root.
    func isOn(_ root: String) -> Bool { roots.isEmpty || roots.contains(root) }
}
