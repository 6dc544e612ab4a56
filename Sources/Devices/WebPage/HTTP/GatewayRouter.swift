internal import HTTPOperations
internal import HTTPTypes
package import Hummingbird
internal import Support

extension Router<GatewayContext> {
    /// Creates the router: all paths of the gateway, and what each of them requires. `docs/views.md` describes those
    /// that another view may use.
    static func gateway(_ routes: GatewayRoutes, token: TokenRequirement) -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
            .add(middleware: Answers())
            .add(middleware: OwnHeader())
        // HEAD would use up the link.
        router.get("sign-in", use: routes.signIn)

        let page = router.group().add(middleware: SignInRequirement(browsers: routes.browsers))
        let operators = page.group("api").add(middleware: OperatorRequirement())
        let groups = PageRoutes(
            operators: operators,
            publishing: operators.group().add(middleware: Publishing(isReadOnly: routes.hub.identity.isReadOnly)),
            everybody: page.group("api"), programs: router.group().add(middleware: token))
        groups.everybody.get("stream/:stream", use: routes.stream)
            .post("stream/:stream/views", use: routes.views)
        for feature in routes.features { feature.addRoutes(to: groups) }
        page.read("/", use: routes.asset)
        page.read("**", use: routes.asset)
        // The path `**` stands for those of the files.
        let files = routes.assets.paths.flatMap { [HTTPOperation(.get, $0), HTTPOperation(.head, $0)] }
        return router.add(middleware: MethodCheck(router.operations + files))
    }

    var operations: [HTTPOperation] { routes.map { HTTPOperation($0.method, $0.path.description) } }
}

extension RouterMethods {
    /// Adds a route for GET and HEAD. ``Answers`` removes the body of the answer to HEAD.
    @discardableResult
    package func read(
        _ path: RouterPath, use answer: @escaping @Sendable (Request, Context) async throws -> Response
    ) -> Self {
        get(path, use: answer).head(path, use: answer)
    }
}
