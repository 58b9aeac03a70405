//! Where a file can be mutated, and how.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Block, Expr, ImplItemFn, ItemFn, ItemImpl, ItemMod, Lit, ReturnType, Stmt,
    TraitItemFn, Type,
};

use crate::random::Random;

/// A place with its original text and the text of its mutant.
#[derive(Clone)]
pub struct Site {
    /// Bytes of the source that the schema replaces: empty for what is put before the body of a function.
    pub range: Range<usize>,
    pub line: usize,
    pub operator: &'static str,
    pub original: String,
    pub mutated: String,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Expression,
    Statement,
    Body,
}

impl Site {
    /// The text that does one or the other.
    pub fn schema(&self, id: usize) -> String {
        let Site {
            original, mutated, ..
        } = self;
        match self.kind {
            Kind::Expression => {
                format!("(if crate::mutant({id}) {{ {mutated} }} else {{ {original} }})")
            }
            Kind::Statement => format!("if !crate::mutant({id}) {{ {original} }}"),
            Kind::Body => format!(" if crate::mutant({id}) {{ {mutated} }} "),
        }
    }
}

/// All sites of a source. `random` chooses where a site has several mutants.
pub fn sites(source: &str, random: &mut Random) -> Vec<Site> {
    let file = syn::parse_file(source).expect("a source that compiles");
    let mut finder = Finder {
        source,
        random,
        sites: Vec::new(),
    };
    finder.visit_file(&file);
    finder.sites
}

struct Finder<'a> {
    source: &'a str,
    random: &'a mut Random,
    sites: Vec<Site>,
}

/// Tests, and what another attribute makes conditional.
fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|one| one.path().is_ident("cfg") || one.path().is_ident("test"))
}

/// A condition with `let` is no expression by itself.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn is_comparison(expression: &Expr) -> bool {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(expression, Expr::Binary(binary) if matches!(binary.op,
        Lt(_) | Le(_) | Gt(_) | Ge(_) | Eq(_) | Ne(_) | And(_) | Or(_)))
}

impl Finder<'_> {
    fn text(&self, span: Span) -> String {
        self.source[span.byte_range()].to_owned()
    }

    fn add(&mut self, span: Span, kind: Kind, operator: &'static str, mutated: String) {
        self.sites.push(Site {
            range: span.byte_range(),
            line: span.start().line,
            operator,
            original: self.text(span),
            mutated,
            kind,
        });
    }

    fn one_of(&mut self, texts: &[&'static str]) -> &'static str {
        texts[self.random.below(texts.len())]
    }

    fn condition(&mut self, condition: &Expr) {
        // The negation of a comparison is a comparison.
        if !has_let(condition) && !is_comparison(condition) {
            let mutated = format!("!({})", self.text(condition.span()));
            self.add(
                condition.span(),
                Kind::Expression,
                "negated condition",
                mutated,
            );
        }
    }

    fn binary(&mut self, whole: &Expr, binary: &syn::ExprBinary) {
        let (operator, with) = match binary.op {
            BinOp::Lt(_) => ("relation", self.one_of(&["<=", ">="])),
            BinOp::Le(_) => ("relation", self.one_of(&["<", ">"])),
            BinOp::Gt(_) => ("relation", self.one_of(&[">=", "<="])),
            BinOp::Ge(_) => ("relation", self.one_of(&[">", "<"])),
            BinOp::Eq(_) => ("relation", "!="),
            BinOp::Ne(_) => ("relation", "=="),
            BinOp::Add(_) => ("arithmetic", "-"),
            BinOp::Sub(_) => ("arithmetic", "+"),
            BinOp::Mul(_) => ("arithmetic", "+"),
            BinOp::AddAssign(_) => ("arithmetic", "-="),
            BinOp::SubAssign(_) => ("arithmetic", "+="),
            BinOp::And(_) if !has_let(whole) => ("logic", "||"),
            BinOp::Or(_) => ("logic", "&&"),
            _ => return,
        };
        let left = self.text(binary.left.span());
        let right = self.text(binary.right.span());
        let mutated = match with {
            "-=" | "+=" => format!("{left} {with} {right}"),
            _ => format!("({left}) {with} ({right})"),
        };
        self.add(whole.span(), Kind::Expression, operator, mutated);
    }

    fn constant(&mut self, whole: &Expr, literal: &Lit) {
        let Lit::Int(number) = literal else { return };
        let Ok(value) = number.base10_parse::<u128>() else {
            return;
        };
        let less = value > 0 && self.random.below(2) == 0;
        let value = if less { value - 1 } else { value + 1 };
        let mutated = format!("{value}{}", number.suffix());
        self.add(whole.span(), Kind::Expression, "constant", mutated);
    }

    fn body(&mut self, output: &ReturnType, block: &Block) {
        let values: &[&'static str] = match output {
            ReturnType::Default => &["return;"],
            ReturnType::Type(_, of) => match &**of {
                Type::Path(path) => {
                    let last = path.path.segments.last().expect("a path has segments");
                    match last.ident.to_string().as_str() {
                        "bool" => &["return true;", "return false;"],
                        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i32" | "i64" => {
                            &["return 0;"]
                        }
                        "f64" => &["return 0.0;"],
                        "Option" => &["return None;"],
                        "Vec" | "String" | "Time" | "Span" | "Nanos" => {
                            &["return Default::default();"]
                        }
                        _ => return,
                    }
                }
                _ => return,
            },
        };
        let inside = block.span().byte_range();
        let text = self.source[inside.start + 1..inside.end - 1]
            .trim()
            .to_owned();
        let value = self.one_of(values);
        let same = value.trim_start_matches("return ").trim_end_matches(';');
        if text.is_empty() || text == same || text == "Vec::new()" {
            return;
        }
        self.sites.push(Site {
            range: inside.start + 1..inside.start + 1,
            line: block.span().start().line,
            operator: "body",
            original: "the body".to_owned(),
            mutated: value.to_owned(),
            kind: Kind::Body,
        });
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_conditional(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let prints = item.trait_.as_ref().is_some_and(|(_, path, _)| {
            let last = path.segments.last().expect("a path has segments");
            last.ident == "Debug" || last.ident == "Display"
        });
        if !prints && !is_conditional(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if item.sig.constness.is_none() && !is_conditional(&item.attrs) {
            self.body(&item.sig.output, &item.block);
            self.visit_block(&item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if item.sig.constness.is_none() && !is_conditional(&item.attrs) {
            self.body(&item.sig.output, &item.block);
            self.visit_block(&item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = item
            .default
            .as_ref()
            .filter(|_| !is_conditional(&item.attrs))
        {
            self.body(&item.sig.output, block);
            self.visit_block(block);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(Expr::MethodCall(call), Some(_)) = statement
            && !is_conditional(&call.attrs)
        {
            self.add(
                statement.span(),
                Kind::Statement,
                "deleted call",
                String::new(),
            );
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Binary(binary) => self.binary(expression, binary),
            Expr::Lit(literal) => self.constant(expression, &literal.lit),
            Expr::If(of) => self.condition(&of.cond),
            Expr::While(of) => self.condition(&of.cond),
            // Its length is a constant.
            Expr::Repeat(of) => return self.visit_expr(&of.expr),
            Expr::Const(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expression);
    }

    // What the compiler evaluates, or takes apart.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_angle_bracketed_generic_arguments(
        &mut self,
        _: &'ast syn::AngleBracketedGenericArguments,
    ) {
    }
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
}
