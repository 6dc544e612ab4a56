import Navigation
import Support
import Testing

/// The screens of a counter, above its first one, after a coffee was served.
func screensAfterCoffee() throws -> [String] {
    let flow = try Flow("coffee", version: 1, platform: "counter", start: "menu") {
        Flow.Screen("menu")
        Flow.Screen("cup")
        Flow.Transition(on: "event.CoffeeServed", do: [.push(.screen("cup", ["kind": "${data.kind}"]))])
    }
    var machine = Machine(flow: flow)
    // A coordinator carries out the effects, such as a URL to open.
    _ = machine.handle(Machine.Input(id: "1", type: "event.CoffeeServed", data: ["kind": "lungo"]))
    return machine.state.path.map(\.screen)
}

@Suite("Program of the page of Navigation")
struct NavigationProgramTests {
    @Test("A coffee leads to its screen")
    func coffee() throws {
        #expect(try screensAfterCoffee() == ["cup"])
    }
}
