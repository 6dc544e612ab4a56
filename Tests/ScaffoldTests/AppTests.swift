import FlowFiles
import FlowReview
import Foundation
import Navigation
import TestSupport
import Testing

@testable import Scaffold

@Suite("New apps")
struct AppTests {
    /// The path of a file of this repository.
    private static func path(_ name: String) -> String {
        URL(filePath: #filePath).appending(path: "../../../\(name)").standardizedFileURL.path
    }

    private func app(_ name: String) throws -> Scaffold {
        let segue = try SegueSource(Self.path(""), version: "0.1.0", directory: "/")
        return try AppTemplate(name, segue: segue).scaffold()
    }

    @Test("A new app has messages, a service, the flows of two platforms, a stack and tests")
    func files() throws {
        let files = try app("tea-time").files
        #expect(
            files.keys.sorted() == [
                ".gitignore", "Package.swift", "README.md", "Sources/TeaTime/TeaTimeService.swift",
                "Sources/TeaTime/Vocabulary/Command+ItemSelected.swift",
                "Sources/TeaTime/Vocabulary/Command+PurchaseRequested.swift",
                "Sources/TeaTime/Vocabulary/Command+RestockDue.swift",
                "Sources/TeaTime/Vocabulary/Document+Items.swift",
                "Sources/TeaTime/Vocabulary/DomainEvent+ItemBought.swift",
                "Sources/tea-time-service/TeaTimeServiceCommand.swift",
                "Tests/TeaTimeTests/FlowTests.swift", "Tests/TeaTimeTests/PackageFile.swift",
                "Tests/TeaTimeTests/StoryTests.swift", "compose.yaml", "flows/ios.yaml", "flows/mac.yaml",
            ])
        for (path, text) in files {
            #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"), "\(path)")
        }
    }

    @Test(
        "A new app has short lines and sorted imports, whatever its name is",
        arguments: ["a", "tea-time", "z-2-three"])
    func format(name: String) throws {
        for (path, text) in try app(name).files where path != "README.md" {
            let lines = text.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= 120 }, "\(path)")
            let imports = lines.filter { $0.hasPrefix("import") }
            #expect(imports == imports.sorted(), "\(path)")
        }
    }

    @Test("A strict check finds nothing in the flows of a new app", arguments: ["flows/ios.yaml", "flows/mac.yaml"])
    func flows(path: String) throws {
        let text = try #require(app("tea-time").files[path])
        let review = FlowReading(yaml: text, file: path).review()
        #expect(review.findings.isEmpty)
    }

    @Test("A name that is already a folder, a module or a project is refused")
    func names() throws {
        for (name, module) in [("coffee", "Coffee"), ("tea-time", "TeaTime"), ("b2b", "B2B"), ("a-1", "A1")] {
            #expect(try app(name).files["Sources/\(module)/\(module)Service.swift"] != nil, "\(name)")
        }
        for name in ["", "Tea", "tea_time", "-tea", "tea-", "a--b", "a/b", "..", "tea time", "1st", "thé"] {
            let error = #expect(throws: ScaffoldError.self) { try app(name) }
            #expect(error?.message == "'\(name)' is not a name for an app")
        }
        for name in ["segue", "navigation", "event-bus", "auth", "testing", "type", "swift-argument-parser", "null"] {
            let error = #expect(throws: ScaffoldError.self) { try app(name) }
            #expect(error?.message == "'\(name)' has a meaning in Segue, Swift or YAML")
        }
    }

    @Test("The names of all targets of Segue that a new app could collide with are known")
    func namesOfSegue() throws {
        let manifest = try String(contentsOfFile: Self.path("Package.swift"), encoding: .utf8)
        let sources = try #require(manifest.split(separator: "// MARK: Tests").first)
        let modules = sources.matches(of: #/(?:\bmodule\(|systemLibrary\(name:|\.target\(\s*name:)\s*"(\w+)"/#)
        #expect(Set(modules.map { String($0.1) }) == SegueNames.modules)
        let services = sources.matches(of: #/\bexecutable\(\s*"([\w-]+-service)"/#)
        #expect(Set(services.map { String($0.1) }) == SegueNames.services)
    }

    @Test(
        "A new app has the same text as Examples/Coffee where that does not depend on the app",
        arguments: ["Tests/CoffeeTests/PackageFile.swift", "Sources/barista/BaristaCommand.swift"])
    func coffee(path: String) throws {
        let files = [
            "Tests/CoffeeTests/PackageFile.swift": AppTemplate.packageFile,
            "Sources/barista/BaristaCommand.swift": ServiceTemplate.executable(
                "barista", type: "Barista", of: "Coffee", abstract: "Makes coffee."),
        ]
        #expect(try String(contentsOfFile: Self.path("Examples/Coffee/\(path)"), encoding: .utf8) == files[path])
    }

    @Test("'segue new' finds the messages, flows and tests of a new app")
    func extended() throws {
        try withFolder { folder in
            try app("tea-time").write(toNewFolder: folder.path("tea-time"))
            let package = try PackageLayout(around: folder.path("tea-time"))
            #expect(package.vocabulary == "Sources/TeaTime/Vocabulary" && package.module == "TeaTime")

            let selected = try MessageTemplate(MessageShape(["command.ItemSelected"])).scaffold(in: package)
            #expect(throws: ScaffoldError.self) { try selected.write(to: package.root) }
            let service = try ServiceTemplate(
                "courier", receives: MessageShape(["event.ItemBought", "itemID:String"]),
                sends: MessageShape(["event.ItemDelivered"]))
            let created = try service.scaffold(in: package, compose: "compose.yaml").steps.compactMap(\.text)
                .filter { $0.hasPrefix("segue ") }
            #expect(created == ["segue new message event.ItemDelivered"])
            let screen = try ScreenTemplate("receipt", on: MessageShape(["command.ReceiptWanted"]), from: "item")
            let scaffold = try screen.scaffold(in: package, flows: package.flows)
            #expect(
                scaffold.files.keys.sorted() == [
                    "Tests/TeaTimeTests/ReceiptScreenMacTests.swift", "Tests/TeaTimeTests/ReceiptScreenTests.swift",
                ])
        }
    }

    @Test("A new app is written only to a new or empty folder, and whole or not at all")
    func writing() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: false)
            try app("empty").write(toNewFolder: folder.path("empty"))
            #expect(FileManager.default.fileExists(atPath: folder.path("empty/Package.swift")))

            try "".write(toFile: folder.path("file"), atomically: true, encoding: .utf8)
            for taken in ["empty", "file"] {
                let error = #expect(throws: ScaffoldError.self) {
                    try app("tea").write(toNewFolder: folder.path(taken))
                }
                #expect(error?.message == "\(folder.path(taken)) exists already and is not an empty folder")
            }

            // The folder can have this name, but the name of the executable's source has more than 255 bytes.
            let long = String(repeating: "a", count: 240)
            #expect(throws: CocoaError.self) { try app(long).write(toNewFolder: folder.path(long)) }
            try FileManager.default.createDirectory(atPath: folder.path("kept"), withIntermediateDirectories: false)
            #expect(throws: CocoaError.self) { try app(long).write(toNewFolder: folder.path("kept")) }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["empty", "file", "kept"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("kept")).isEmpty)
        }
    }

    @Test("A new app finds Segue by a path or a URL")
    func source() throws {
        try withFolder { folder in
            for name in ["my segue", "other", "app"] {
                try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: false)
            }
            try "let package = Package(\n    name: \"segue\",\n)\n".write(
                toFile: folder.path("my segue/Package.swift"), atomically: true, encoding: .utf8)
            try "let package = Package(\n    name: \"other\",\n)\n".write(
                toFile: folder.path("other/Package.swift"), atomically: true, encoding: .utf8)

            func dependencyOf(_ text: String) throws -> String {
                try SegueSource(text, version: "1.2.3", directory: folder.path("app")).dependency
            }
            let expected = [
                "../my segue": #".package(name: "segue", path: "../../my segue")"#,
                "../my segue/": #".package(name: "segue", path: "../../my segue/")"#,
                folder.path("my segue"): #".package(name: "segue", path: "\#(folder.path("my segue"))")"#,
                "https://example.com/segue": #".package(url: "https://example.com/segue", from: "1.2.3")"#,
                "git@example.com:me/segue.git": #".package(url: "git@example.com:me/segue.git", from: "1.2.3")"#,
            ]
            for (text, dependency) in expected { #expect(try dependencyOf(text) == dependency) }
            for text in ["my segue", "../other", "https://example.com/fork", "git@example.com:me/segue-fork"] {
                #expect(throws: ScaffoldError.self, "\(text)") { try dependencyOf(text) }
            }
        }
    }

    @Test("The folder from which the program was built is found, but not a copy of the package manager")
    func folderOfSource() throws {
        #expect(SegueSource.folder(ofSource: #filePath) == Self.path(""))
        #expect(SegueSource.folder(ofSource: "/removed/segue/Sources/A/B.swift") == nil)
        try withFolder { folder in
            let copy = folder.path(".build/checkouts/segue")
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: Self.path("Package.swift"), toPath: "\(copy)/Package.swift")
            #expect(SegueSource.folder(ofSource: "\(copy)/Sources/A/B.swift") == nil)
        }
    }

    private func withFolder(_ body: (ScratchFolder) throws -> Void) throws {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        try body(folder)
    }
}
