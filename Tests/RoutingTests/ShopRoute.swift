import Navigation

enum ShopRoute: Hashable, Codable, Sendable {
    case list
    case item(id: Int, tab: String? = nil)
}

extension Flow {
    /// Screens that views push and pop, and one that a rule pushes.
    static func shop(
        _ platform: String = "ios", requests: [ActionName] = [.push, .pop, .popToRoot, .replacePath]
    ) throws -> Flow {
        try Flow("shop", version: 1, platform: platform, start: "home", requests: requests) {
            for screen in ["home", "list", "item", "notice"] { Flow.Screen(screen) }
            Flow.Transition(on: "event.LaunchFinished", do: [.push("notice")])
        }
    }
}
