package import Navigation
import Support

/// A flow of a shop with child flows: the checkout starts a sign-up, which may ask for an address.
package enum SignUpFlow {
    package static let yaml = """
        name: shop
        version: 1
        platform: ios
        start: list
        requests: [push, pop, finish]
        screens: { list: , basket: , paid: , credentials: , code: , address: , map: }
        flows:
          signUp:
            start: credentials
            transitions:
              - on: event.Next
                when: { top: credentials }
                do: [{ push: code }]
              - on: event.Next
                do: [{ finish: { kind: new, name: "${data.name}" } }]
              - on: event.AddressNeeded
                do: [{ push: { flow: addressing, arguments: { country: "${data.country}" } } }]
              - on: event.Root
                do: [popToRoot]
              - on: event.Over
                do: [{ replacePath: [code, map] }]
              - on: event.PopTwo
                do: [{ pop: 2 }]
              - on: event.Cancelled
                do: [abandon]
              - on: flow.finished
                where: { flow: addressing }
                do: [{ finish: { kind: address, city: "${data.result.city}" } }]
          addressing:
            start: address
            transitions:
              - on: event.Next
                do: [{ finish: { city: York } }]
        transitions:
          - on: event.Next
            do: [{ push: basket }]
          - on: event.SignUpPushed
            do: [{ push: { flow: signUp } }]
          - on: event.SignUpPresented
            do: [{ present: { flow: signUp, style: sheet, arguments: { from: list } } }]
          - on: event.Help
            do: [{ present: { screen: map, style: sheet } }]
          - on: event.Reset
            do: [{ setRoot: list }]
          - on: flow.finished
            where: { flow: signUp, result.kind: address }
            do: [{ push: { screen: paid, arguments: { city: "${data.result.city}" } } }]
          - on: flow.finished
            where: { flow: signUp }
            do: [{ push: { screen: paid, arguments: { name: "${data.result.name}" } } }]
          - on: flow.abandoned
            when: { top: basket }
            do: [pop]
        """

    package static func built() throws -> Flow {
        try Flow("shop", version: 1, platform: "ios", start: "list", requests: [.push, .pop, .finish]) {
            for name in ["list", "basket", "paid", "credentials", "code", "address", "map"] { Flow.Screen(name) }
            Flow.Child(
                "signUp", start: "credentials",
                transitions: [
                    Flow.Transition(on: "event.Next", when: [.top("credentials")], do: [.push("code")]),
                    Flow.Transition(on: "event.Next", do: [.finish(result: ["kind": "new", "name": "${data.name}"])]),
                    Flow.Transition(
                        on: "event.AddressNeeded",
                        do: [.pushFlow("addressing", arguments: ["country": "${data.country}"])]),
                    Flow.Transition(on: "event.Root", do: [.popToRoot]),
                    Flow.Transition(on: "event.Over", do: [.replacePath(["code", "map"])]),
                    Flow.Transition(on: "event.PopTwo", do: [.pop(2)]),
                    Flow.Transition(on: "event.Cancelled", do: [.abandon]),
                    Flow.Transition(
                        on: "flow.finished", where: ["flow": "addressing"],
                        do: [.finish(result: ["kind": "address", "city": "${data.result.city}"])]),
                ])
            Flow.Child(
                "addressing", start: "address",
                transitions: [Flow.Transition(on: "event.Next", do: [.finish(result: ["city": "York"])])])
            rules
        }
    }

    @Flow.Builder private static var rules: [Flow.Part] {
        Flow.Transition(on: "event.Next", do: [.push("basket")])
        Flow.Transition(on: "event.SignUpPushed", do: [.pushFlow("signUp")])
        Flow.Transition(
            on: "event.SignUpPresented", do: [.presentFlow("signUp", arguments: ["from": "list"], as: .sheet)])
        Flow.Transition(on: "event.Help", do: [.present("map", as: .sheet)])
        Flow.Transition(on: "event.Reset", do: [.setRoot("list")])
        Flow.Transition(
            on: "flow.finished", where: ["flow": "signUp", "result.kind": "address"],
            do: [.push(.screen("paid", ["city": "${data.result.city}"]))])
        Flow.Transition(
            on: "flow.finished", where: ["flow": "signUp"],
            do: [.push(.screen("paid", ["name": "${data.result.name}"]))])
        Flow.Transition(on: "flow.abandoned", when: [.top("basket")], do: [.pop])
    }
}
