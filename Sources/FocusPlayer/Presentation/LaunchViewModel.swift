/// Shown until it is known whether an account is connected.
struct LaunchViewModel: ViewModel {
    init(documents: LatestDocuments, arguments: [String: String]) {}

    var content: ScreenContent {
        ScreenContent(title: "Focus Player", rows: ["Starting…"])
    }
}
