import FlowFiles
import Navigation
import Testing

/// A flow that spin searches, too.
struct SpinFlow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let yaml: String

    /// - Parameters:
    ///   - screens: The screens, as the members of a mapping.
    ///   - parts: The rules as the lines of a list, and further keys.
    init(_ description: String, _ screens: String, _ parts: String) {
        testDescription = description
        yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            screens: { \(screens) }
            transitions:
            \(parts)
            """
    }

    func flow() throws -> Flow { try Flow(yaml: yaml, file: "shop.yaml") }

    static let all = [
        SpinFlow(
            "Sheets over sheets, each with a path of its own",
            "list: { sends: [command.Menu] }, menu: { sends: [command.Open] }, item: { sends: [command.Open, command.Menu, command.Done] }",
            """
              - { on: command.Menu, do: [{ present: { screen: menu, style: sheet } }] }
              - { on: command.Open, when: { presented: menu }, do: [{ push: item }] }
              - { on: command.Done, do: [{ dismiss: menu }] }
              - { on: event.LoggedOut, when: { presented: menu }, do: [dismissAll] }
            properties:
              - { never: { root: item } }
              - { when: { presented: menu }, canReach: { presented: [] } }
            """),
        SpinFlow(
            "A pop in a sheet, and one beneath a sheet",
            "list: { sends: [command.Open, command.Menu] }, item: { sends: [command.Open, command.Menu] }, menu: { sends: [command.Open, command.Close, command.Home] }",
            """
              - { on: command.Open, do: [{ push: item }] }
              - { on: command.Menu, do: [{ present: { screen: menu, style: sheet, interactiveDismissal: false } }] }
              - { on: command.Close, when: { path: item }, do: [pop] }
              - { on: command.Close, do: [dismiss] }
              - { on: command.Home, do: [{ popTo: list }] }
              - { on: event.Expired, do: [{ pop: { from: item } }] }
            properties:
              - { when: { presented: menu }, always: { shown: menu } }
            """),
        SpinFlow(
            "A new root under presentations",
            "list: { sends: [command.Menu] }, menu: { sends: [command.Menu, command.Help] }, help: {}, welcome: { sends: [command.LogIn, command.Help] }",
            """
              - { on: command.Menu, unless: { presented: menu }, do: [{ present: { screen: menu, style: sheet } }] }
              - { on: command.Help, do: [{ present: { screen: help, style: fullScreen } }] }
              - { on: event.LoggedOut, do: [{ setRoot: welcome }] }
              - { on: command.LogIn, do: [{ setRoot: list }, { push: help }, { present: { screen: menu, style: sheet } }] }
            properties:
              - { when: { root: welcome }, never: { presented: menu } }
              - { canReach: { root: welcome, presented: [] } }
              - { canReach: { root: list, presented: [] } }
            """),
        SpinFlow(
            "Conditions of which none may hold",
            "list: { sends: [command.Open, command.Menu] }, item: { sends: [command.Open, command.Menu], once: true }, menu: { sends: [command.Open] }",
            """
              - { on: command.Open, unless: { path: item, presented: menu }, do: [{ push: item }] }
              - { on: command.Open, unless: [{ shown: item }, { path: menu }], do: [{ push: item }, { push: item }] }
              - { on: command.Menu, unless: { top: menu }, when: { path: [] }, do: [{ present: { screen: menu, style: sheet } }] }
              - { on: event.Bought, unless: { path: [], root: item }, do: [{ setRoot: item }] }
            properties:
              - { unless: { presented: [] }, always: { presented: menu } }
              - { unless: { root: [list, item] }, never: { top: menu } }
            """),
        SpinFlow(
            "The first rule applies whose conditions hold",
            "list: { sends: [command.Open, command.Next] }, item: { sends: [command.Open, command.Next] }, cart: { sends: [command.Next] }",
            """
              - { on: [command.Open, command.Next], when: { top: item }, do: [{ push: cart }] }
              - { on: command.Next, when: { path: item }, do: [{ goTo: list }] }
              - { on: command.Open, do: [{ push: item }] }
              - { on: command.Next, when: { root: list }, do: [{ setRoot: cart }] }
              - { on: command.Next, when: { top: item }, do: [pop] }
              - { on: command.Next, do: [{ replacePath: [item, cart] }] }
              - { on: event.Returned, do: [{ popTo: item }] }
            """),
        SpinFlow(
            "Screens that nothing leads to, and rules that never apply or always fail",
            "list: { sends: [command.Open, command.Old] }, item: { sends: [command.Menu] }, menu: { sends: [command.Help] }, help: {}, old: { sends: [command.Help] }",
            """
              - { on: command.Open, when: { top: list }, do: [{ push: item }] }
              - { on: command.Menu, do: [{ present: { screen: menu, style: sheet } }, { pop: 1 }] }
              - { on: command.Help, do: [{ push: help }] }
              - { on: command.Old, when: { path: item }, do: [{ setRoot: old }] }
              - { on: event.Expired, when: { top: help }, do: [dismiss] }
              - { on: command.Sync, do: [popToRoot] }
            """),
        SpinFlow(
            "Properties that do not hold, and one about no state",
            "list: { sends: [command.Menu, command.Pay] }, menu: { sends: [command.Pay] }, paid: { sends: [command.Menu] }",
            """
              - { on: command.Menu, do: [{ present: { screen: menu, style: sheet } }] }
              - { on: command.Pay, do: [{ ifPossible: dismiss }, { push: paid }] }
              - { on: event.Paid, when: { path: paid }, do: [{ setRoot: paid }] }
            properties:
              - { never: { path: paid, presented: menu } }
              - { when: { path: paid }, always: { top: paid } }
              - { when: { root: list }, always: { root: list } }
              - { canReach: { path: paid } }
              - { when: { root: menu }, never: { top: list } }
            """),
        SpinFlow(
            "Alerts, whose buttons act and send commands",
            "list: { sends: [command.Open] }, item: { sends: [command.Delete, command.Open] }, confirm: { once: true }, deleted: { sends: [command.Open] }",
            """
              - { on: command.Open, do: [{ push: item }] }
              - on: command.Delete
                do:
                  - present:
                      screen: confirm
                      style: dialog
                      buttons:
                        - { id: yes, title: "Yes", role: destructive, sends: command.ItemDeleted, do: [{ popTo: list }] }
                        - { id: all, title: All, do: [{ pop: 2 }] }
                        - { id: no, title: "No", role: cancel }
              - { on: command.ItemDeleted, when: { sender: confirm, path: [] }, do: [{ push: deleted }] }
              - { on: event.Expired, do: [{ push: deleted }, { ifPossible: back }] }
              - { on: event.Hinted, do: [{ present: { screen: confirm, style: alert, title: Hi, buttons: [{ id: ok, title: OK }] } }] }
            """),
        SpinFlow(
            "Acts of the user, and rules that answer them",
            "list: { sends: [command.Open, command.Menu] }, item: { sends: [command.Open, command.Menu] }, form: { back: false, sends: [command.Open] }, menu: { sends: [command.Open] }, left: { sends: [command.Menu] }",
            """
              - { on: command.Open, when: { top: list }, do: [{ push: item }] }
              - { on: command.Open, when: { top: item }, do: [{ push: form }] }
              - { on: command.Open, when: { top: form }, do: [{ push: left }] }
              - { on: command.Menu, do: [{ present: { screen: menu, style: fullScreen } }] }
              - { on: user.wentBack, where: { screen: item }, do: [{ setRoot: left }] }
              - { on: user.wentBack, do: [{ present: { screen: menu, style: sheet } }, { pop: 3 }] }
              - { on: user.dismissed, where: { screen: { not: left } }, when: { path: item }, do: [{ replacePath: [item, form] }] }
              - { on: event.LoggedIn, when: { root: left }, do: [{ setRoot: list }] }
            properties:
              - { when: { top: form }, canReach: { root: left } }
            """),
        SpinFlow(
            "Senders, also covered ones, and a screen that is pushed on itself without end",
            "list: { sends: [command.Open, command.Menu] }, item: { sends: [command.Open, command.Close, command.Menu] }, menu: { sends: [command.Close, command.Open] }",
            """
              - { on: command.Open, when: { sender: item, presented: menu }, do: [{ push: { screen: menu, on: sender } }] }
              - { on: command.Open, unless: { sender: menu }, do: [{ push: item }] }
              - { on: command.Close, when: { sender: [item, menu], presented: menu }, do: [{ ifPossible: { pop: sender } }, { ifPossible: { dismiss: sender } }] }
              - { on: command.Close, when: { sender: [] }, do: [{ goTo: item }] }
              - { on: command.Close, do: [{ pop: sender }, back] }
              - { on: command.Menu, do: [{ present: { screen: menu, style: sheet } }] }
            """),
    ]
}
