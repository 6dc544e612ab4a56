import FlowExploration
import FlowFiles
import FlowReview
import Navigation
import Support
import Testing

@Suite("What an exploration must not say")
struct SoundnessTests {
    /// Flows in which each screen is reached and each rule applies.
    private static let flows = [
        (
            "A wait begins with any message, such as the launch",
            #"""
            screens:
              home:
              list: { sends: [command.Open] }
              item:
            transitions:
              - after: 3s
                when: { top: home }
                do: [{ setRoot: list }]
              - on: command.Open
                when: { top: list }
                do: [{ push: item }]
            """#
        ),
        (
            "The sender of an alert's command is known when its guard is answered",
            #"""
            screens:
              home: { sends: [command.Delete] }
              confirm: { arguments: { itemID: string } }
              deleted: { arguments: { itemID: string } }
            transitions:
              - on: command.Delete
                when: { top: home }
                do:
                  - present:
                      screen: confirm
                      style: dialog
                      title: Delete?
                      arguments: { itemID: "7" }
                      buttons: [{ id: yes, title: "Yes", sends: command.ItemDeleted }, { id: no, title: "No", role: cancel }]
              - on: command.ItemDeleted
                guard: { ask: { type: command.Remove }, accept: event.Removed, deadline: 5s }
                do: [{ push: { screen: deleted, arguments: { itemID: "${sender.itemID}" } } }]
            """#
        ),
        (
            "A condition on the alert whose command waits",
            #"""
            screens:
              home: { sends: [command.Delete] }
              confirm: { arguments: { itemID: string } }
              deleted: { arguments: { itemID: string } }
            transitions:
              - on: command.Delete
                when: { top: home }
                do:
                  - present:
                      screen: confirm
                      style: dialog
                      title: Delete?
                      arguments: { itemID: "7" }
                      buttons: [{ id: yes, title: "Yes", sends: command.ItemDeleted }, { id: no, title: "No", role: cancel }]
              - on: command.ItemDeleted
                when: { sender: confirm }
                guard: { ask: { type: command.Remove }, accept: event.Removed, deadline: 5s }
                do: [{ push: { screen: deleted, arguments: { itemID: "${sender.itemID}" } } }]
            """#
        ),
        (
            "A number has values beside its bounds",
            #"""
            screens:
              home: { sends: [command.Open] }
              one: { sends: [command.Close] }
              many: { sends: [command.Close] }
            commands:
              command.Open: { pieces: { type: integer, minimum: 1 } }
              command.Close: {}
            transitions:
              - on: command.Open
                where: { pieces: 1 }
                do: [{ setRoot: one }]
              - on: command.Open
                do: [{ setRoot: many }]
              - on: command.Close
                do: [{ setRoot: home }]
            """#
        ),
        (
            "A constant is compared with an argument that has the field's value",
            #"""
            screens:
              home: { sends: [command.Open] }
              item: { arguments: { kind: string }, sends: [command.Next] }
              special:
            transitions:
              - on: command.Open
                when: { top: home }
                do: [{ push: { screen: item, arguments: { kind: "${data.kind}" } } }]
              - on: command.Next
                when: { top: { screen: item, arguments: { kind: gift } } }
                do: [{ push: special }]
            """#
        ),
        (
            "A constant is compared with the result of a child flow",
            #"""
            screens:
              home: { sends: [command.Ask] }
              question: { sends: [command.Answered] }
              thanks:
              sorry:
            flows:
              ask:
                start: question
                transitions:
                  - on: command.Answered
                    do: [{ finish: { ok: "${data.ok}" } }]
            transitions:
              - on: command.Ask
                when: { top: home }
                do: [{ present: { flow: ask, style: sheet } }]
              - on: flow.finished
                where: { flow: ask, result.ok: true }
                do: [{ push: thanks }]
              - on: flow.finished
                where: { flow: ask }
                do: [{ push: sorry }]
            """#
        ),
        (
            "A constant is compared with a field of a command that the flow sends",
            #"""
            screens:
              home:
              gift:
              plain:
            transitions:
              - on: event.Bought
                do: [{ send: { type: command.ShowItem, data: { kind: "${data.kind}" } } }]
              - on: command.ShowItem
                origin: own
                where: { kind: gift }
                do: [{ setRoot: gift }]
              - on: command.ShowItem
                origin: own
                do: [{ setRoot: plain }]
            """#
        ),
        (
            "A constant is compared with an argument that has a value of the URL",
            #"""
            screens:
              home:
              item: { arguments: { id: string }, sends: [command.Next] }
              gift:
            links:
              - { url: "shop://item/{id}", to: { root: home, path: [{ screen: item, arguments: { id: "${url.id}" } }] } }
            transitions:
              - on: command.Next
                when: { top: { screen: item, arguments: { id: gift } } }
                do: [{ push: gift }]
            """#
        ),
        (
            "A declared value and one that is not declared can be equal",
            #"""
            screens:
              home: { sends: [command.Open] }
              item: { arguments: { itemID: integer } }
              bought:
            commands:
              command.Open: { itemID: integer }
            transitions:
              - on: command.Open
                when: { top: home }
                do: [{ push: { screen: item, arguments: { itemID: "${data.itemID}" } } }]
              - on: event.Bought
                when: { top: { screen: item, arguments: { itemID: "${data.itemID}" } } }
                do: [{ push: bought }]
            """#
        ),
        (
            "A number beyond all limits",
            #"""
            screens:
              home:
              none:
              single:
              list:
            transitions:
              - on: event.Found
                where: { count: 0 }
                do: [{ setRoot: none }]
              - on: event.Found
                where: { count: 1 }
                do: [{ setRoot: single }]
              - on: event.Found
                where: { count: { atLeast: 0 } }
                do: [{ setRoot: list }]
            """#
        ),
        (
            "A field is absent although another rule reads a field in it",
            #"""
            screens:
              home:
              empty:
              five:
              other:
            transitions:
              - on: event.Loaded
                where: { result: { exists: false } }
                do: [{ setRoot: empty }]
              - on: event.Loaded
                where: { result.code: 5 }
                do: [{ setRoot: five }]
              - on: event.Loaded
                do: [{ setRoot: other }]
              - on: event.Reset
                do: [{ setRoot: home }]
            """#
        ),
        (
            "An optional argument is absent",
            #"""
            screens:
              home: { sends: [command.Edit] }
              editor: { arguments: { id?: string }, sends: [command.Save] }
              created:
              saved:
            transitions:
              - on: command.Edit
                when: { top: home }
                do: [{ push: { screen: editor, arguments: { id: "${data.id}" } } }]
              - on: command.Save
                when: { top: { screen: editor, arguments: { id: { exists: false } } } }
                do: [{ push: created }]
              - on: command.Save
                when: { top: { screen: editor, arguments: { id: { exists: true } } } }
                do: [{ push: saved }]
            """#
        ),
        (
            "Three values can all be different",
            #"""
            screens:
              home: { sends: [command.Pick] }
              a: { arguments: { id: {} }, sends: [command.Pick] }
              b: { arguments: { id: {} }, sends: [command.Pick] }
              c: { arguments: { id: {} } }
            transitions:
              - on: command.Pick
                when: { top: home }
                do: [{ push: { screen: a, arguments: { id: "${data.id}" } } }]
              - on: command.Pick
                when: { top: a }
                unless: { path: { screen: a, arguments: { id: "${data.id}" } } }
                do: [{ push: { screen: b, arguments: { id: "${data.id}" } } }]
              - on: command.Pick
                when: { top: b }
                unless: { path: [{ screen: a, arguments: { id: "${data.id}" } }, { screen: b, arguments: { id: "${data.id}" } }] }
                do: [{ push: { screen: c, arguments: { id: "${data.id}" } } }]
            """#
        ),
        (
            "One parameter of a URL is there and the other is not",
            #"""
            screens:
              home:
              list: { arguments: { a?: string, b?: string }, sends: [command.Next] }
              only:
            links:
              - { url: "shop://list?a={a}&b={b}", to: { root: home, path: [{ screen: list, arguments: { a: "${url.a}", b: "${url.b}" } }] } }
            transitions:
              - on: command.Next
                when: { top: { screen: list, arguments: { a: { exists: true }, b: { exists: false } } } }
                do: [{ push: only }]
            """#
        ),
        (
            "Two placeholders of a URL are false",
            #"""
            screens:
              home:
              list: { arguments: { a: boolean, b: boolean }, sends: [command.Next] }
              none:
            links:
              - { url: "shop://list/{a:boolean}/{b:boolean}", to: { root: home, path: [{ screen: list, arguments: { a: "${url.a}", b: "${url.b}" } }] } }
            transitions:
              - on: command.Next
                when: { top: { screen: list, arguments: { a: false, b: false } } }
                do: [{ push: none }]
            """#
        ),
        (
            "An event is of another platform",
            #"""
            screens:
              home:
              mine:
              theirs:
            transitions:
              - on: event.Saved
                origin: own
                do: [{ setRoot: mine }]
              - on: event.Saved
                do: [{ setRoot: theirs }]
              - on: event.Reset
                do: [{ setRoot: home }]
            """#
        ),
        (
            "A screen sends an event",
            #"""
            screens:
              home: { sends: [command.Play] }
              player:
              credits:
            transitions:
              - on: command.Play
                when: { top: home }
                do: [{ push: player }]
              - on: event.VideoEnded
                when: { sender: player }
                do: [{ push: credits }]
            """#
        ),
        (
            "A rule opens URLs without links",
            #"""
            screens:
              home:
              item:
            transitions:
              - on: event.DeepLinkReceived
                where: { url: "shop://item" }
                do: [{ push: item }]
            """#
        ),
        (
            "A second tap comes from a screen that is covered already",
            #"""
            screens:
              home: { sends: [command.Open] }
              item: { sends: [command.Close] }
              other: { sends: [command.Close] }
            transitions:
              - on: command.Open
                when: { sender: home, top: home }
                do: [{ push: item }]
              - on: command.Open
                when: { sender: home, top: item }
                do: [{ replacePath: other }]
            """#
        ),
        (
            "A dialog is dismissed",
            #"""
            screens:
              home: { sends: [command.Delete] }
              confirm:
              kept:
            transitions:
              - on: command.Delete
                when: { top: home }
                do:
                  - present: { screen: confirm, style: dialog, title: Delete?, buttons: [{ id: yes, title: "Yes", do: [{ setRoot: home }] }] }
              - on: user.dismissed
                where: { screen: confirm }
                do: [{ push: kept }]
            """#
        ),
        (
            "A tab is selected beneath a popover",
            #"""
            screens:
              home: { sends: [command.Log] }
              main:
              list: { sends: [command.Info, command.Detail] }
              me: { sends: [command.Out] }
              info:
              detail: { sends: [command.Detail] }
            transitions:
              - on: command.Log
                do: [{ setRoot: { screen: main, container: { tabs: [list, { name: "on", screen: me }], history: true } } }]
              - on: command.Info
                do: [{ present: { screen: info, style: popover } }]
              - on: user.selectedTab
                when: { presented: info }
                do: [dismissAll]
              - on: command.Detail
                unless: { top: detail }
                do: [{ push: detail }]
              - on: user.tappedTab
                when: { top: detail }
                do: [{ present: { screen: info, style: sheet, interactiveDismissal: false } }]
              - on: command.Out
                do: [back]
            """#
        ),
        (
            "A command has no sender",
            #"""
            screens:
              home: { sends: [command.Refresh] }
              a:
              b:
            transitions:
              - on: command.Refresh
                when: { sender: home }
                do: [{ push: a }]
              - on: command.Refresh
                when: { sender: [] }
                do: [{ setRoot: b }]
            """#
        ),
        (
            "A rule applies and fails because of one message",
            #"""
            screens:
              home: { sends: [command.Open] }
              sheet:
            transitions:
              - on: command.Open
                when: { top: home }
                do: [{ present: { screen: sheet, style: sheet } }]
              - on: event.Done
                when: { top: sheet }
                do: [{ send: command.Close }, { send: command.Close }]
              - on: command.Close
                origin: own
                do: [dismiss]
            """#
        ),
        (
            "A rule keeps a later one from applying",
            #"""
            screens:
              home: { sends: [command.Open] }
              item: { sends: [command.Open] }
            transitions:
              - on: command.Open
                when: { top: item }
                do: [{ ifPossible: dismiss }]
              - on: command.Open
                do: [{ push: item }]
            """#
        ),
        (
            "A message is no answer, but has an effect",
            #"""
            screens:
              home: { sends: [command.Load] }
              done:
            transitions:
              - on: command.Load
                guard:
                  ask: { type: command.StartLoading }
                  accept: { on: event.Loaded, where: { state: finished } }
                  reject: { on: event.Loaded, where: { state: [failed, cancelled] } }
                  deadline: 5s
                do: [{ push: done }]
              - on: event.Loaded
                where: { state: progress }
                when: { top: home }
                do: [{ update: { screen: home, arguments: { busy: true } } }]
            """#
        ),
        (
            "A field has a value that the argument's type does not allow",
            #"""
            screens:
              home:
              item: { arguments: { kind: { enum: [red, blue] } } }
              other:
            transitions:
              - { on: event.Colour, where: { kind: [red, blue] }, do: [{ setRoot: { screen: item, arguments: { kind: "${data.kind}" } } }] }
              - { on: event.Colour, do: [{ setRoot: other }] }
            """#
        ),
        (
            "An optional field is absent",
            #"""
            screens:
              home: { sends: [command.Sort] }
              up:
              down:
              plain:
            commands:
              command.Sort: { order?: { enum: [up, down] } }
            transitions:
              - { on: command.Sort, where: { order: up }, do: [{ setRoot: up }] }
              - { on: command.Sort, where: { order: down }, do: [{ setRoot: down }] }
              - { on: command.Sort, do: [{ setRoot: plain }] }
            """#
        ),
        (
            "An optional field of a command that the flow sends is absent",
            #"""
            screens:
              home: { sends: [command.Open] }
              none:
              some:
            commands:
              command.Show: { kind?: string }
            transitions:
              - on: command.Open
                when: { top: home }
                do: [{ send: { type: command.Show, data: { kind: "${data.kind}" } } }]
              - on: command.Show
                origin: own
                where: { kind: { exists: false } }
                do: [{ push: none }]
              - on: command.Show
                origin: own
                do: [{ push: some }]
            """#
        ),
        (
            "A constant is compared with an argument of a child flow",
            #"""
            screens:
              home: { sends: [command.Edit] }
              editor: { arguments: { kind: string }, sends: [command.Next] }
              gift:
            flows:
              edit:
                start: editor
                transitions:
                  - on: command.Next
                    when: { top: { screen: editor, arguments: { kind: gift } } }
                    do: [{ push: gift }]
            transitions:
              - on: command.Edit
                when: { top: home }
                do: [{ present: { flow: edit, style: sheet, arguments: { kind: "${data.kind}" } } }]
            """#
        ),
        (
            "An argument of a child flow is in its result",
            #"""
            screens:
              home: { sends: [command.Ask] }
              q: { arguments: { id: string }, sends: [command.Done] }
              gift:
            flows:
              ask:
                start: q
                transitions: [{ on: command.Done, do: [{ finish: { id: "${sender.id}" } }] }]
            transitions:
              - { on: command.Ask, when: { top: home }, do: [{ push: { flow: ask, arguments: { id: "${data.id}" } } }] }
              - { on: flow.finished, where: { flow: ask, result.id: gift }, do: [{ push: gift }] }
            """#
        ),
        (
            "An optional argument of a child flow is absent",
            #"""
            screens:
              home: { sends: [command.Edit] }
              editor: { arguments: { id?: string }, sends: [command.Next] }
              created:
            flows:
              edit:
                start: editor
                transitions:
                  - on: command.Next
                    when: { top: { screen: editor, arguments: { id: { exists: false } } } }
                    do: [{ push: created }]
            transitions:
              - on: command.Edit
                when: { top: home }
                do: [{ present: { flow: edit, style: sheet, arguments: { id: "${data.id}" } } }]
            """#
        ),
        (
            "A template refers to the arguments",
            #"""
            screens:
              home: { sends: [command.Open] }
              item: { arguments: { kind: string }, sends: [command.Next] }
              gift:
            transitions:
              - on: command.Open
                when: { top: home }
                do: [{ push: { screen: item, arguments: { kind: "${data.kind}" } } }]
              - on: command.Next
                when: { top: item }
                do: [{ send: { type: command.Show, data: { kind: "${arguments.kind}" } } }]
              - on: command.Show
                origin: own
                where: { kind: gift }
                do: [{ push: gift }]
            """#
        ),
        (
            "A template refers to the alert that sends the command",
            #"""
            screens:
              home: { sends: [command.Delete] }
              confirm: { arguments: { kind: string } }
              deleted: { arguments: { kind: string }, sends: [command.Next] }
              gift:
            transitions:
              - on: command.Delete
                when: { top: home }
                do:
                  - present: { screen: confirm, style: dialog, title: T, arguments: { kind: "${data.kind}" }, buttons: [{ id: yes, title: "Yes", sends: command.Yes }, { id: no, title: "No", role: cancel }] }
              - on: command.Yes
                origin: own
                do: [{ push: { screen: deleted, arguments: { kind: "${sender.kind}" } } }]
              - on: command.Next
                when: { top: { screen: deleted, arguments: { kind: gift } } }
                do: [{ push: gift }]
            """#
        ),
        (
            "A template refers to the screen that the user left",
            #"""
            screens:
              home: { sends: [command.Open] }
              item: { arguments: { kind: string } }
              left: { arguments: { kind: string }, sends: [command.Next] }
              gift:
            transitions:
              - on: command.Open
                when: { top: home }
                do: [{ push: { screen: item, arguments: { kind: "${data.kind}" } } }]
              - on: user.wentBack
                where: { screen: item }
                do: [{ push: { screen: left, arguments: { kind: "${sender.kind}" } } }]
              - on: command.Next
                when: { top: { screen: left, arguments: { kind: gift } } }
                do: [{ push: gift }]
            """#
        ),
        (
            "A button of an alert has a template",
            #"""
            screens:
              home: { arguments: { kind?: string }, sends: [command.Ask, command.Set] }
              confirm:
              item: { arguments: { kind: string }, sends: [command.Next] }
              gift:
            transitions:
              - { on: command.Set, when: { top: home }, do: [{ update: { screen: home, arguments: { kind: "${data.kind}" } } }] }
              - on: command.Ask
                when: { top: { screen: home, arguments: { kind: { exists: true } } } }
                do:
                  - present: { screen: confirm, style: alert, title: T, buttons: [{ id: ok, title: ok, do: [{ push: { screen: item, arguments: { kind: "${arguments.kind}" } } }] }] }
              - { on: command.Next, when: { top: { screen: item, arguments: { kind: gift } } }, do: [{ push: gift }] }
            """#
        ),
        (
            "A number is less than all others",
            #"""
            screens:
              home: { sends: [command.Rate] }
              great:
              good:
              poor:
            transitions:
              - { on: command.Rate, where: { stars: 5 }, do: [{ setRoot: great }] }
              - { on: command.Rate, where: { stars: 4 }, do: [{ setRoot: good }] }
              - { on: command.Rate, where: { stars: { atMost: 5 } }, do: [{ setRoot: poor }] }
            """#
        ),
        (
            "A number is compared with a text that writes it",
            #"""
            screens:
              home: { sends: [command.Open] }
              item: { arguments: { n: string }, sends: [command.Next] }
              five:
            commands:
              command.Open: { n: string }
            transitions:
              - { on: command.Open, when: { top: home }, do: [{ push: { screen: item, arguments: { n: "${data.n}" } } }] }
              - { on: command.Next, when: { top: { screen: item, arguments: { n: 5 } } }, do: [{ push: five }] }
            """#
        ),
        (
            "Two fields with different limits are equal",
            #"""
            screens:
              home: { sends: [command.Open] }
              item: { arguments: { id: {} } }
              same:
            commands:
              command.Open: { itemID: { type: integer, minimum: 1 } }
            transitions:
              - { on: command.Open, when: { top: home }, do: [{ push: { screen: item, arguments: { id: "${data.itemID}" } } }] }
              - { on: event.Bought, when: { top: { screen: item, arguments: { id: "${data.itemID}" } } }, do: [{ push: same }] }
            """#
        ),
        (
            "Four values are all different",
            #"""
            screens:
              home: { sends: [command.Pick] }
              a: { arguments: { id: {} }, sends: [command.Pick] }
              b: { arguments: { id: {} }, sends: [command.Pick] }
              c: { arguments: { id: {} }, sends: [command.Pick] }
              d: { arguments: { id: {} } }
            transitions:
              - { on: command.Pick, when: { top: home }, do: [{ push: { screen: a, arguments: { id: "${data.id}" } } }] }
              - on: command.Pick
                when: { top: a }
                unless: { path: { screen: a, arguments: { id: "${data.id}" } } }
                do: [{ push: { screen: b, arguments: { id: "${data.id}" } } }]
              - on: command.Pick
                when: { top: b }
                unless: { path: [{ screen: a, arguments: { id: "${data.id}" } }, { screen: b, arguments: { id: "${data.id}" } }] }
                do: [{ push: { screen: c, arguments: { id: "${data.id}" } } }]
              - on: command.Pick
                when: { top: c }
                unless: { path: [{ screen: a, arguments: { id: "${data.id}" } }, { screen: b, arguments: { id: "${data.id}" } }, { screen: c, arguments: { id: "${data.id}" } }] }
                do: [{ push: { screen: d, arguments: { id: "${data.id}" } } }]
            """#
        ),
        (
            "A template of a rule on an event refers to the sender",
            #"""
            screens:
              home: { sends: [command.Play] }
              player: { arguments: { id: string } }
              credits: { arguments: { id: string } }
            transitions:
              - { on: command.Play, when: { top: home }, do: [{ push: { screen: player, arguments: { id: "${data.id}" } } }] }
              - { on: event.VideoEnded, when: { top: player }, do: [{ push: { screen: credits, arguments: { id: "${sender.id}" } } }] }
            """#
        ),
        (
            "A rule that changes nothing keeps a later one from applying",
            #"""
            screens:
              home: { sends: [command.Home, command.Open] }
              item: { sends: [command.Home] }
              info:
            transitions:
              - { on: command.Open, when: { top: home }, do: [{ push: item }] }
              - { on: event.Hint, when: { top: home }, do: [popToRoot] }
              - { on: event.Hint, unless: { top: info }, do: [{ push: info }] }
            """#
        ),
    ]

    @Test("Nothing is reported that can happen", arguments: flows)
    func possible(title: String, yaml: String) throws {
        let flow = try Flow(
            yaml: "name: shop\nversion: 1\nplatform: ios\nstart: home\n\(yaml)\n", file: "shop.yaml")
        var explorer = FlowExplorer([flow], hasOthers: true)
        explorer.explore()
        // In some of them, a rule fails in some states.
        let found = explorer.findings(in: 0).filter {
            $0.problem.code != .deadEnd && !$0.problem.message.hasPrefix("in some states")
        }
        #expect(found.isEmpty, "\(found.map(\.problem))")
    }

    @Test("Of two waits that begin together, the shorter one ends first")
    func waits() throws {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: home
            screens: { home: { sends: [command.Go] }, wait: , list: { sends: [command.Back] }, slow: }
            transitions:
              - { on: command.Go, do: [{ setRoot: wait }] }
              - { after: 3s, when: { top: wait }, do: [{ setRoot: list }] }
              - { after: 10s, when: { top: wait }, do: [{ setRoot: slow }] }
              - { on: command.Back, do: [{ setRoot: home }] }
            """
        var explorer = FlowExplorer([try Flow(yaml: yaml, file: "shop.yaml")])
        let exploration = explorer.explore()
        #expect(exploration.isWhole)
        #expect(explorer.findings(in: 0).map(\.problem.keyPath) == ["screens.slow", "transitions[2]"])
    }
}
