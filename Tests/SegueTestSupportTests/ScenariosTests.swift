import Foundation
import Navigation
import TestSupport
import Testing

@testable import SegueTestSupport

@Suite("Scenarios in a test")
struct ScenariosTests {
    private static let flow = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { title: Items, sends: [command.ItemSelected] }
          item: { title: Item }
        transitions:
          - on: command.ItemSelected
            do: [{ push: item }]
        """

    private func inFolder(_ scenarios: [String: String], _ body: (_ folder: ScratchFolder) throws -> Void) throws {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        try Self.flow.write(toFile: folder.path("flow.yaml"), atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(
            atPath: folder.path("scenarios"), withIntermediateDirectories: false)
        for (name, text) in scenarios {
            try text.write(toFile: folder.path("scenarios/\(name)"), atomically: true, encoding: .utf8)
        }
        try body(folder)
    }

    private func failure(
        _ folder: ScratchFolder, flow: String = "flow.yaml", _ scenarios: String = "scenarios"
    ) -> String? {
        let error = #expect(throws: ScenarioFailure.self) {
            try Scenarios.run(flow: folder.path(flow), scenarios: folder.path(scenarios))
        }
        return error?.description.replacing("\(folder.path)/", with: "")
    }

    @Test("A failed scenario has the lines of 'segue flow run', and only failed ones are shown")
    func lines() throws {
        let selection = "- send: command.ItemSelected\n"
        let scenarios = [
            "back.yml": "\(selection)- back:\n  expect: { path: list }\n", "good.yaml": selection,
            "selection.yaml": "\(selection)  expect: { path: item }\n- back\n", "notes.txt": "none",
            "twice.yaml": "\(selection)\(selection)  expect: {}\n- back\n",
        ]
        try inFolder(scenarios) { folder in
            #expect(
                failure(folder) == """
                    1. command.ItemSelected: list → push item-2  flow.yaml:9
                    2. command.BackCompleted of item-2: item → back to list-1
                    scenarios/back.yml:3:13: 'path' is not what was expected
                      - path: [list]
                      + path: []
                    scenarios/back.yml:3:3: no change of 'dismissed' was expected
                      + dismissed: [item-2]
                    1. command.ItemSelected: list → push item-2  flow.yaml:9
                    2. command.ItemSelected: item → push item-3  flow.yaml:9
                    scenarios/twice.yaml:3:3: no change of 'path' was expected
                      - path: [item-2]
                      + path: [item-2, item-3]
                    """)
            let file = folder.path("scenarios/selection.yaml")
            try Scenarios.run(flow: folder.path("flow.yaml"), scenarios: file)
            let flow = try Flow("shop", version: 1, platform: "ios", start: "list") {
                Flow.Screen("list")
                Flow.Screen("item")
            }
            #expect(throws: ScenarioFailure.self) { try Scenarios.run(flow: flow, scenarios: file) }
        }
    }

    @Test("A missing or invalid file is reported in one line, and so is a folder without scenarios")
    func files() throws {
        try inFolder([:]) { folder in
            #expect(failure(folder) == "scenarios: there is no scenario in this folder")
            #expect(failure(folder, "none.yaml") == "there is no file none.yaml")
            #expect(failure(folder, flow: "none.yaml")?.hasPrefix("there is no file none.yaml") == true)
            try "- jump".write(toFile: folder.path("scenarios/a.yaml"), atomically: true, encoding: .utf8)
            #expect(failure(folder)?.hasPrefix("scenarios/a.yaml:1:3: unknown step 'jump'; ") == true)
            #expect(failure(folder, flow: "scenarios/a.yaml")?.hasPrefix("scenarios/a.yaml:1:") == true)
        }
    }
}
