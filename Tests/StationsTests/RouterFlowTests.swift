import Navigation
import Stations
import Support
import Testing

@Suite("Flow of the router")
struct RouterFlowTests {
    @Test("The file equals the flow in Swift")
    func sameFlow() throws {
        #expect(try FlowFile.flow("router") == Flow.stationRouter())
    }

    @Test("A journey has exactly the expected states, effects and discarded messages")
    func journey() throws {
        var journey = Journey(try .stationRouter())
        let root = RootScreen(ScreenInstance(screen: "stations", id: "stations-1"))
        let york = ScreenInstance(screen: "station", id: "station-2", arguments: ["code": "YRK"])
        let train = ScreenInstance(
            screen: "departure", id: "departure-3", arguments: ["id": 7, "stationCode": "YRK"])

        #expect(journey.request(["push": ["screen": "station", "arguments": ["code": "YRK"]]]) == [])
        #expect(journey.state == NavigationState(root: root, path: [york]))
        let push: JSONValue = ["push": ["screen": "departure", "arguments": ["id": 7, "stationCode": "YRK"]]]
        #expect(journey.request(push, from: "station-2") == [])
        #expect(journey.state == NavigationState(root: root, path: [york, train]))

        // A swipe back that the user cancels, and one that is completed.
        #expect(journey.report("BackStarted", "departure-3") == [])
        #expect(journey.report("BackCancelled", "departure-3") == [])
        #expect(journey.state == NavigationState(root: root, path: [york, train]))
        #expect(
            journey.report("BackCompleted", "departure-3")
                == [.screenDismissed(instance: "departure-3", screen: "departure")])
        #expect(journey.state == NavigationState(root: root, path: [york]))
        #expect(
            journey.request("pop", from: "departure-3") == [
                .messageDiscarded(
                    messageID: "m6",
                    reason: "command.NavigationRequested: screen instance 'departure-3' was dismissed or never existed")
            ])

        // A pop by the program: the screen stays until the view reports that it is gone.
        #expect(journey.request("pop", from: "station-2") == .dismissed(("station-2", "station")))
        #expect(journey.state == NavigationState(root: root, leaving: [york]))
        #expect(journey.report("ScreenGone", "station-2") == [])
        #expect(journey.state == NavigationState(root: root))
        #expect(
            journey.request("pop") == [
                .messageDiscarded(
                    messageID: "m9",
                    reason: "command.NavigationRequested: there is nothing to pop on the path")
            ])
        #expect(journey.state == NavigationState(root: root))
        #expect(journey.machine.revision == 5)
    }

    @Test("Requests of another platform, and requests that the flow does not allow, change nothing")
    func others() throws {
        var journey = Journey(try .stationRouter())
        let before = journey.machine
        #expect(journey.send("NavigationRequested", ["action": ["push": "settings"]], platform: "dispatch") == [])
        #expect(
            journey.request(["setRoot": "settings"]) == [
                .messageDiscarded(
                    messageID: "m2",
                    reason: "command.NavigationRequested: the flow does not let views request 'setRoot': "
                        + "it allows push, pop, popToRoot, replacePath")
            ])
        #expect(journey.machine == before)
    }
}
