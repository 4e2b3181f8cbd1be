(function(){
'use strict';
var d=document,$=function(s,r){return (r||d).querySelector(s)},$$=function(s,r){return Array.prototype.slice.call((r||d).querySelectorAll(s))};
var live=$('#live'),store={get:function(k){try{return localStorage.getItem(k)}catch(e){return null}},set:function(k,v){try{localStorage.setItem(k,v)}catch(e){}}};
function say(t){live.textContent='';setTimeout(function(){live.textContent=t},40)}

/* theme: the radios work without script; this only remembers the choice */
var saved=store.get('triage-theme');
$$('input[name=theme]').forEach(function(r){if(r.value===saved)r.checked=true;r.addEventListener('change',function(){store.set('triage-theme',r.value)})});

/* copy */
function copy(text,done){
  if(navigator.clipboard&&window.isSecureContext)return navigator.clipboard.writeText(text).then(done,function(){old(text,done)});
  old(text,done)}
function old(text,done){var a=d.createElement('textarea');a.value=text;a.setAttribute('readonly','');a.className='vh';d.body.appendChild(a);a.select();try{if(d.execCommand('copy'))done();else say('Copy failed: select the text and copy it by hand')}catch(e){say('Copy failed')}d.body.removeChild(a)}
$$('button[data-copy]').forEach(function(b){b.hidden=false;b.addEventListener('click',function(){
  var text=$$(b.getAttribute('data-copy')).map(function(p){return p.textContent}).join('\n'),label=b.textContent,f=d.activeElement;
  copy(text,function(){b.textContent='Copied';say('Copied to the clipboard');setTimeout(function(){b.textContent=label},1600)});if(f)f.focus()})});

/* open or close all evidence; open everything for print where the browser can't by style */
$$('button[data-all]').forEach(function(b){b.hidden=false;b.addEventListener('click',function(){
  var open=!b._on;b._on=open;b.textContent=open?'Close all evidence':'Open all evidence';
  $$('details.ev').forEach(function(x){x.open=open})})});
var shut=[];
window.addEventListener('beforeprint',function(){shut=$$('details:not([open])');shut.forEach(function(x){x.open=true})});
window.addEventListener('afterprint',function(){shut.forEach(function(x){x.open=false});shut=[]});

/* a link to something inside closed details opens them */
function reveal(){var t=location.hash.length>1&&d.getElementById(decodeURIComponent(location.hash.slice(1)));if(!t)return;
  if(t.hidden){reset();}
  for(var p=t;p;p=p.parentElement)if(p.tagName==='DETAILS')p.open=true;var own=t.tagName==='TR'&&$('details',t);if(own)own.open=true;t.scrollIntoView()}
window.addEventListener('hashchange',reveal);

/* findings filter */
var form=$('#filters'),rows=$$('#fl tbody tr'),count=$('#count'),timer;
rows.forEach(function(r){r._t=r.textContent.toLowerCase()});
function read(){var sev=$$('input[name=sev]:checked',form).map(function(x){return x.value});
  return{sev:sev,dom:form.dom.value,ns:form.ns.value,q:form.q.value.toLowerCase().split(/\s+/).filter(Boolean)}}
function apply(quiet){var f=read(),n=0;
  rows.forEach(function(r){var a=r.dataset,ok=f.sev.indexOf(a.s)>-1&&(!f.dom||a.d===f.dom)&&(!f.ns||a.n===f.ns)&&f.q.every(function(w){return r._t.indexOf(w)>-1});
    r.hidden=!ok;if(ok)n++});
  var t=n===rows.length?'All '+n+' listed findings shown':n+' of '+rows.length+' listed findings shown';
  if(!n)t+='. No finding matches these filters: that says nothing about the cluster.';
  count.textContent=t;if(!quiet)say(t)}
function reset(){if(form){form.reset();apply()}}
if(form){form.hidden=false;
  form.addEventListener('input',function(){clearTimeout(timer);timer=setTimeout(apply,120)});
  form.addEventListener('submit',function(e){e.preventDefault();apply()});
  form.addEventListener('reset',function(){setTimeout(apply,0)});
  apply(true)}

/* section marker in the rail */
if('IntersectionObserver' in window){var links={};$$('.toc>ol>li>a').forEach(function(a){links[a.getAttribute('href').slice(1)]=a});
  var io=new IntersectionObserver(function(es){es.forEach(function(x){if(x.isIntersecting){for(var k in links)links[k].removeAttribute('aria-current');links[x.target.id].setAttribute('aria-current','true')}})},{rootMargin:'-10% 0px -80% 0px'});
  for(var k in links){var t=d.getElementById(k);if(t)io.observe(t)}}
reveal();
})();
